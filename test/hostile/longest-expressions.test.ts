// Compiles the longest expressions that CEL allows (100,000 code points) and counts the work of each step
// (counted-bundle.ts). Lexer, parser and each pass over the tree yield to other requests.
import { expect, test } from 'vitest'
import type * as Target from '../bench/expression-target.ts'
import type { Steps } from '../../src/base/slices.ts'
import { countedBundle } from './counted-bundle.ts'

/** Fifty milliseconds of function calls that take thirty nanoseconds each. */
const MOST_WORK = 1_600_000
const LENGTH = 99_900

const target = await countedBundle<typeof Target>('expression-target.ts')
const environment = target.admissionEnvironment({})

/** Repeats `one` as often as an expression of LENGTH has room for. */
const joined = (one: string, separator: string): string =>
  Array.from({ length: Math.floor(LENGTH / (one.length + separator.length)) }, () => one).join(separator)
const listed = (one: string): string => `[${joined(one, ',')}].size() > 0`
const choice = (depth: number): string => (depth === 0 ? 'object' : `(true?${choice(depth - 1)}:${choice(depth - 1)})`)

const expressions: Readonly<Record<string, string>> = {
  comparisons: joined('object.a == 1', ' || '),
  conditions: joined('true', '||'),
  numbers: listed('1'),
  negations: listed('-object'),
  'empty lists': listed('[]'),
  'short lists': listed('[1,1,1]'),
  entries: `{${Array.from({ length: 12_000 }, (_, at) => `${10_000 + at}:1`).join(',')}}.size() > 0`,
  calls: listed('size([])'),
  sums: listed('1+1'),
  'long sums': listed(`(${'1+'.repeat(120)}1)`),
  relations: joined('1<2', '||'),
  equalities: joined("''==''", '&&'),
  folds: joined('[].all(x,x)', '||'),
  'chained folds': joined('[].map(x,x,x).all(y,y)', '||'),
  'folds of folds': listed(`[1]${'.map(x,[x])'.repeat(120)}`),
  'macros that copy': joined('object.?a.optMap(a,a).orValue(true)', '||'),
  brackets: joined(`${'['.repeat(60)}1${']'.repeat(60)}`, '||'),
  'a mistake before brackets': `1 1, ${joined(`${'['.repeat(60)}1${']'.repeat(60)}`, '||')}`,
  parentheses: joined(`${'('.repeat(60)}true${')'.repeat(60)}`, '||'),
  'single parentheses': listed('(1)'),
  choices: joined('(true?true:true)', '||'),
  'a path out of many choices': `${choice(12)}${'.f'.repeat(200)} == 1`,
  paths: joined('object.a.a.a.a.a.a.a.a.a', '||'),
  'long paths': joined(`object${'.a'.repeat(245)}`, '||'),
  indexes: joined('object[0][0][0]', '||'),
  'a text': `'${'a'.repeat(LENGTH)}' == ''`,
  texts: listed("''"),
  'unknown names': listed('x'),
  'a late mistake': `[${joined('1', ',')} 1`,
  'a late type': `[${joined('1', ',')},''].size() > 0`,
  mistakes: joined('1 1', ','),
  'what no token takes': joined('$', ' '),
  'open texts': joined("'a", '\n'),
  'open blocks': joined(`'''\\q`, ' '),
  'wide characters': `'${'\u{1f600}'.repeat(LENGTH)}' == ''`,
}

type Outcome = { readonly work: number; readonly result: string }

function longestSteps(text: string): Outcome {
  const { counted$ } = target
  const longest = { work: 0, result: 'compiled' }
  const run = <T>(steps: Steps<T>): T => {
    for (let before = counted$.work; ; before = counted$.work) {
      const { done, value } = steps.next(true)
      longest.work = Math.max(longest.work, counted$.work - before)
      if (done === true) return value
    }
  }
  const { macros, optionalSyntax } = environment
  const { tree, issues } = run(target.parseInSteps(text, { macros, optionalSyntax }))
  if (tree === undefined) return { ...longest, result: issues[0]!.message }
  const checked = run(target.checkInSteps(tree, environment))
  if (checked.expression === undefined) return { ...longest, result: checked.issues[0]!.message }
  run(target.validateInSteps(checked.expression, environment))
  run(target.programInSteps(checked.expression, environment))
  run(target.estimateInSteps(checked.expression, (path) => ({ min: path.length, max: 1_000 })))
  return longest
}

test.each(Object.entries(expressions))('%s', { timeout: 60_000 }, (_, text) => {
  const { work, result } = longestSteps(text)
  if (process.env['KEDGE_MEASURED'] !== undefined) console.log(text.length, work, result)
  expect(work, result).toBeLessThan(MOST_WORK)
})

test('a type that doubles with each link of a chain is refused', () => {
  const chain = (links: number): string => longestSteps(`[1]${'.map(a,{a:a})'.repeat(links)}.size() > 0`).result
  expect(chain(7)).toBe('compiled')
  expect([chain(14), chain(60), chain(120)]).toEqual(Array(3).fill('expression is too large'))
})
