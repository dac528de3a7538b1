import { describe, expect, test } from 'vitest'
import fc from '../chance.ts'
import type { Expression } from '../../src/cel/syntax/ast.ts'
import { compile } from '../../src/cel/compile.ts'
import type { ExpressionFactory } from '../../src/cel/declarations.ts'
import { parse } from '../../src/cel/syntax/parse.ts'
import { childrenOf } from '../../src/cel/checker/validators.ts'
import { estimateCost } from '../../src/cel/estimate.ts'
import type { PathSizes } from '../../src/cel/estimate.ts'
import { asIntWhereWhole, valueOfJson } from '../../src/cel/values/json-value.ts'
import { CostExceeded } from '../../src/cel/evaluation/frame.ts'
import { programOf } from '../../src/cel/evaluation/program.ts'
import { DYN, INT, listOf, mapOf, STRING } from '../../src/cel/checker/type.ts'
import type { Value } from '../../src/cel/values/value.ts'
import { CelError, ListValue } from '../../src/cel/values/value.ts'
import { baseEnvironment } from '../../src/expressions/environments.ts'

const environment = baseEnvironment().extend({
  variables: [
    { name: 'text', type: STRING },
    { name: 'words', type: listOf(STRING) },
    { name: 'n', type: INT },
    { name: 'long', type: STRING },
    { name: 'wideText', type: STRING },
    { name: 'many', type: listOf(INT) },
    { name: 'empty', type: listOf(STRING) },
    { name: 'anything', type: DYN },
    { name: 'wide', type: mapOf(STRING, STRING) },
  ],
})
const values = {
  text: 'hello world',
  words: ['a', 'bb', 'ccc'],
  n: 3,
  long: 'x'.repeat(200_000),
  wideText: '\u{1f600}'.repeat(500_000),
  many: Array.from({ length: 50_000 }, (_, at) => at),
  empty: Array.from({ length: 50_000 }, () => ''),
  anything: Array.from({ length: 50_000 }, () => 'y'),
  wide: Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, ''])),
}
const sizes: PathSizes = (path) => {
  if (path[0] === 'text') return { min: 11, max: 11 }
  if (path[0] === 'words') return path.length === 1 ? { min: 3, max: 3 } : { min: 1, max: 3 }
  return undefined
}
const variables = (name: string): Value =>
  name === 'n' ? 3n : valueOfJson(values[name as keyof typeof values], asIntWhereWhole) // those that are declared

function run(text: string, limit = 1_000_000) {
  const { expression, issues } = compile(text, environment)
  if (expression === undefined) throw new Error(issues)
  const { value, cost } = programOf(expression, environment).run(variables, limit)
  return { value, cost, estimate: estimateCost(expression, sizes) }
}

const sizeOf = (node: Expression): number => childrenOf(node).reduce((sum, child) => sum + sizeOf(child), 1)

/** Expressions of a type, built from smaller ones. */
const { bool } = fc.letrec<{ bool: string; text: string; list: string; int: string }>((tie) => ({
  int: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('n', '1', '7'),
    tie('list').map((list) => `${list}.size()`),
    fc.tuple(tie('int'), tie('int')).map(([a, b]) => `(${a} + ${b})`),
  ),
  text: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('text', '"x"', '""'),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => `(${a} + ${b})`),
    fc.tuple(tie('bool'), tie('text'), tie('text')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    tie('list').map((list) => `${list}.join(",")`),
    tie('text').map((text) => `${text}.upperAscii()`),
  ),
  list: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('words', '["p", "q"]'),
    fc.tuple(tie('list'), tie('list')).map(([a, b]) => `(${a} + ${b})`),
    fc.tuple(tie('list'), tie('bool')).map(([list, bool]) => `${list}.filter(w, ${bool})`),
    fc.tuple(tie('list'), tie('text')).map(([list, text]) => `${list}.map(w, ${text})`),
  ),
  bool: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('true', 'n > 2', 'text == "hello world"'),
    fc.tuple(tie('bool'), fc.constantFrom('&&', '||'), tie('bool')).map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => `${a}.contains(${b})`),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => `(${a} == ${b})`),
    fc.tuple(tie('text'), tie('list')).map(([text, list]) => `(${text} in ${list})`),
    fc.tuple(tie('list'), tie('bool')).map(([list, bool]) => `${list}.all(w, ${bool})`),
    tie('text').map((text) => `${text}.matches("^[a-z]+$")`),
  ),
}))

describe('bounds', () => {
  test('an evaluation spends no more than its budget and one call', () =>
    fc.assert(
      fc.property(bool, fc.integer({ min: 1, max: 500 }), (text, limit) => {
        try {
          expect(run(text, limit).cost).toBeLessThanOrEqual(limit)
        } catch (error) {
          expect(error).toBeInstanceOf(CostExceeded)
        }
      }),
      { numRuns: 300 },
    ))

  // no less: kube-apiserver's estimate knows neither lists that are constants nor folds that stop early, and nor does this
  test('an evaluation costs no more than was estimated', () =>
    fc.assert(
      fc.property(bool, (text) => {
        const { value, cost, estimate } = run(text)
        expect(value).not.toBeInstanceOf(CelError)
        expect(cost).toBeLessThanOrEqual(estimate.max)
      }),
      { numRuns: 300 },
    ))

  /** Built in so many steps, with 2 to the power of that many elements to go through. */
  const shared = (steps: number): string => `[1]${'.map(x, [x, x])'.repeat(steps)}`
  const hostile: Readonly<Record<string, string>> = {
    'values that share their parts, compared': `${shared(40)} == ${shared(40)}`,
    'values that share their parts, looked for': `${shared(40)}[0] in ${shared(40)}`,
    'values that share their parts, shown': `"%s".format([${shared(40)}]) == text`,
    'values that share their parts, flattened': `${shared(30)}.flatten(60).size() > 0`,
    'values that share their parts, again and again': `lists.range(500).exists(i, ${shared(30)} == ${shared(30)})`,
    'a replacement of each character': `"${'a'.repeat(40_000)}".replace("a", "${'b'.repeat(40_000)}").size() > 0`,
    'a long text that is joined': `lists.range(10000).map(i, "${'b'.repeat(40_000)}").join("").size() > 0`,
    'a text that doubles': `${'[1,2,3,4,5,6,7,8,9,10].map(i, '.repeat(7)}text${')'.repeat(7)}.size() > 0`,
    'folds within folds': `${'lists.range(1000).all(i, '.repeat(5)}true${')'.repeat(5)}`,
    'a pattern that others backtrack on': 'lists.range(100000).all(i, ("a" + text).matches("(a*)*(a*)*b$") || true)',
    'a range beyond all bounds': 'lists.range(9223372036854775807).size() > 0',
    'a range that nobody can pay for': 'lists.range(9999999).size() > 0',
    'a set of many numbers': 'lists.range(60000).map(i, i * 2).distinct().size() > 0',
    'sets of many numbers': 'sets.contains(lists.range(60000), lists.range(60000).map(i, 59999 - i))',
    'a list that is cut again and again': 'lists.range(20000).all(i, lists.range(20000).slice(0, 20000).size() > 0)',
    'a long list with an empty one': 'lists.range(100000).all(i, !sets.intersects(many, []))',
    'many empty texts, sorted': 'lists.range(100000).all(i, empty.isSorted())',
    'a long list of anything': 'lists.range(100000).all(i, !("x" in anything))',
    'values that share their parts, counted': `${shared(40)}.indexOf(${shared(40)}[0].filter(x, false)) > 0`,
    'a long text, asked for its size': 'lists.range(100000).all(i, long.size() > 0)',
    'a long text, asked for a character': 'lists.range(100000).all(i, long.charAt(9) == "x")',
    'a long text that is no number': 'lists.range(100000).all(i, (long + "x").size() > 0 && dyn(long) != 1)',
    'a wide map, asked for its size': 'lists.range(100000).all(i, wide.size() > 0)',
    'a pattern of many states': 'long.matches("(x|xx){0,500}y") || true',
    'a URL of a long path, asked for its parts':
      '[url("https://a/" + long)].all(u, lists.range(100000).all(i, u.getPort() == ""))',
    'a URL of a long query, asked for its values':
      '[url("https://a/?" + long.replace("x", "x&"))].all(u, u.getQuery().size() > 0)',
    'long URLs, compared': '[url("https://a/" + long)].all(u, lists.range(100000).all(i, u == u))',
    'long versions, compared': '[semver("1.0.0-" + long)].all(v, lists.range(100000).all(i, v.compareTo(v) == 0))',
    'a URL that is too long to parse': '(url("https://a/" + wideText) == url("b")) || true',
    'an address that is too long to parse': 'isIP(wideText)',
    'a range that is too long to parse': 'isCIDR(wideText)',
    'a version that is too long to parse': 'isSemver("1.0.0-" + wideText)',
    'matches each of which is looked for up to the end': 'long.findAll("x.*y|x").size() > 0',
  }
  test.each(Object.entries(hostile))('%s ends within the budget', (_, text) => {
    let result: Value | 'stopped'
    try {
      result = run(text).value
    } catch (error) {
      expect(error).toBeInstanceOf(CostExceeded)
      result = 'stopped'
    }
    expect(result === 'stopped' || result instanceof CelError).toBe(true)
  })

  test.each([
    '((a{100}){100}){100}',
    '(((a{1000}){1000}){1000}',
    'a{1001}',
    '((((((((((a{10}){10}){10}){10}){10}){10}){10}',
  ])('the pattern %s is refused before there is a text', (pattern) => {
    expect(compile(`text.matches("${pattern}")`, environment).issues).toContain('invalid matches argument')
  })

  test('what little work costs in kube-apiserver it costs here', () => {
    expect(run(`${shared(9)} == ${shared(9)}`)).toMatchObject({ value: true, cost: 451 })
  })

  test('an evaluation that needs more stack than there is fails', () => {
    const { expression } = compile('n', environment)
    const program = programOf(expression!, environment)
    const again = (): Value => program.run(again, 1_000_000).value
    expect(again()).toBeInstanceOf(CelError)
  })

  test('a list that was cut off keeps nothing that others see', () => {
    const { value } = run('words.map(w, w + w)')
    expect(value instanceof ListValue && value.size).toBe(3)
  })

  describe('macros that copy their target', () => {
    const nodesOf = (text: string): number => {
      const { tree } = parse(text, { macros: environment.macros, optionalSyntax: true })
      return tree?.offsets.length ?? 0
    }
    test('may do so often', () => {
      expect(nodesOf(`optional.of(words)${'.optMap(v, v + v)'.repeat(8)}`)).toBeGreaterThan(3000)
    })
    const chains = {
      optMap: `optional.of(words)${'.optMap(v, v + v)'.repeat(64)}`,
      optFlatMap: `optional.of(words)${'.optFlatMap(v, optional.of(v))'.repeat(64)}`,
      'chains within chains': `optional.of(${'optional.of('.repeat(12)}n${').optMap(v, v).orValue(1)'.repeat(12)}).optMap(v, v)`,
    }
    test.each(Object.entries(chains))('%s: no more than 20,000 nodes are copied', (_, text) => {
      let copies = 0
      const macros = environment.macros.map((macro) => ({
        ...macro,
        expand: (make: ExpressionFactory, target: Expression | undefined, args: readonly Expression[]) => {
          const copy = (one: Expression): Expression => {
            const made = make.copy(one)
            copies += sizeOf(made)
            return made
          }
          return macro.expand({ ...make, copy }, target, args)
        },
      }))
      const { tree, issues } = parse(text, { macros, optionalSyntax: true })
      expect(tree === undefined ? issues.map(({ message }) => message) : []).toContain('expression is too large')
      expect(copies).toBeLessThanOrEqual(20_000)
    })
  })
})
