import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { keptPromises, keptPromisesIn } from './shared-promises.ts'

test('no promise outlives the request that made it', () => {
  expect(keptPromises(fileURLToPath(new URL('../..', import.meta.url).href))).toEqual([])
})

test.each<[string, string, boolean]>([
  ['a promise of a module', 'let kept: Promise<string> | undefined', true],
  ['promises by name', 'export const kept = new Map<string, Promise<CryptoKey>>()', true],
  ['promises beside values', 'const kept = new WeakMap<object, Promise<string>>()', true],
  ['a promise beside a key', 'let kept: { readonly key: string; readonly value: Promise<string> } | undefined', true],
  ['a promise of an instance', '  private kept: Promise<string> | undefined', true],
  ['a promise of an object', '  readonly kept: Promise<string>', true],
  ['a promise of an object that may change', '  kept: Promise<string> | undefined', true],
  [
    'promises of an instance',
    '  private readonly kept = new BoundedMap<string, Promise<string>>({ entries: 1 })',
    true,
  ],
  [
    'one that says why it settles',
    '  /** Settles: nothing is awaited. */\n  private kept: Promise<string> | undefined',
    false,
  ],
  ['a shared value', 'const kept = new SharedValue<string>()', false],
  ['a function', 'const make = (): Promise<string> => load()', false],
  ['a member that is a function', '  private readonly make: (text: string) => Promise<string>', false],
  ['a method', '  private make(): Promise<string> {', false],
  ['a variable of a function', '  const kept: Promise<string>[] = []', false],
])('%s', (_, text, isFound) => {
  expect(keptPromisesIn('src/tenancy/example.ts', text)).toEqual(isFound ? ['src/tenancy/example.ts: kept'] : [])
})
