import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { collectionsOf, unboundedIn } from './bounded-state.ts'

test('whatever requests could fill has a bound', () => {
  expect(unboundedIn(fileURLToPath(new URL('../..', import.meta.url).href))).toEqual([])
})

test.each<[string, string, boolean]>([
  ['a map that is filled', 'const kept = new Map<string, number>()', false],
  ['a list that is filled', 'export const kept: string[] = []', false],
  ['an object that is filled', 'const kept: Record<string, number> = {}', false],
  ['a set of an object that lives', '  private readonly kept = new Set<string>()', false],
  ['a map beside each value', 'const kept = new WeakMap<object, Map<string, number>>()', false],
  ['a table that is added to', "const kept = new Map([['a', 1]])\nkept.set('b', 2)", false],
  ['a table', "const kept = new Map([['a', 1]])", true],
  ['an iterator of a field', '  private kept = this.others.keys()', false],
  ['an iterator of a module', 'let kept = others.values()', false],
  ['one that says its bound', '/** Bound: the settings. */\nconst kept = new Map<string, number>()', true],
])('%s', (_, text, isBounded) => {
  expect(collectionsOf('src/tenancy/example.ts', text)).toEqual([{ name: 'kept', isBounded }])
})
