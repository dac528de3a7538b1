/**
 * What outlives a request says what bounds it. A collection at module level, or in an object that lives as long as an
 * isolate, a Durable Object or the local server, is a BoundedMap, or never grows, or has `Bound:` in the comment above
 * it.
 */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Whose instances live longer than a request. */
const LIVING = /^(durable-objects|src\/(storage|tenancy|flowcontrol|endpoints|cli|authentication))\//

/** An empty collection, to be filled. */
const EMPTY = String.raw`(new (Map|Set)(<.*>)?\(\)|\[\]|\{\}|Object\.create\(null\))`
const atModuleLevel = new RegExp(String.raw`^(?:export )?(?:const|let) (\w+)\b.*?= ${EMPTY}(?: as .*)?$`)
const inAnInstance = new RegExp(
  String.raw`^  (?:(?:private|protected|public|readonly|static|declare) )*(?!const |let |return )(#?\w+)\b[^(]*= ${EMPTY}$`,
)
/** Collections beside a value, which go with it, but not before. */
const besideAValue = /^(?:export )?const (\w+) = new WeakMap<.*\b(?:Map|Set)<.*>\(\)$/
const withContents = /^(?:export )?const (\w+)\b.*= new (?:Map|Set)(?:<.*>)?\((?!\))/

interface Found {
  readonly name: string
  readonly isBounded: boolean
}

function collectionsOf(path: string, text: string): Found[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at): Found[] => {
    const grows =
      atModuleLevel.exec(line) ?? besideAValue.exec(line) ?? (LIVING.test(path) ? inAnInstance.exec(line) : null)
    const name = (grows ?? withContents.exec(line))?.[1]
    if (name === undefined || /: (readonly .*\[\]|Readonly.*<.*>) = /.test(line)) return []
    if (grows !== null) return [{ name, isBounded: /\bBound: /.test(commentAbove(lines, at)) }]
    return [{ name, isBounded: !new RegExp(String.raw`\b${name}\.(set|add|push)\(`).test(text) }]
  })
}

function commentAbove(lines: readonly string[], at: number): string {
  let from = at
  while (from > 0 && /^\s*(\/\*\*|\*|\/\/)/.test(lines[from - 1]!)) from--
  return lines.slice(from, at).join('\n')
}

const files = globSync(['src/**/*.ts', 'durable-objects/**/*.ts'])

test('whatever requests could fill has a bound', () => {
  const unbounded = files.flatMap((path) =>
    collectionsOf(path, readFileSync(path, 'utf8'))
      .filter(({ isBounded }) => !isBounded)
      .map(({ name }) => `${path}: ${name}`),
  )
  expect(unbounded.join('\n')).toBe('')
})

test.each<[string, string, boolean]>([
  ['a map that is filled', 'const kept = new Map<string, number>()', false],
  ['a list that is filled', 'export const kept: string[] = []', false],
  ['an object that is filled', 'const kept: Record<string, number> = {}', false],
  ['a set of an object that lives', '  private readonly kept = new Set<string>()', false],
  ['a map beside each value', 'const kept = new WeakMap<object, Map<string, number>>()', false],
  ['a table that is added to', "const kept = new Map([['a', 1]])\nkept.set('b', 2)", false],
  ['a table', "const kept = new Map([['a', 1]])", true],
  ['one that says its bound', '/** Bound: the settings. */\nconst kept = new Map<string, number>()', true],
])('%s', (_, text, isBounded) => {
  expect(collectionsOf('src/tenancy/example.ts', text)).toEqual([{ name: 'kept', isBounded }])
})
