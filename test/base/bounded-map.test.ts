import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { BoundedMap, charactersOf } from '../../src/base/bounded-map.ts'

test('beyond its entries it forgets what was used longest ago', () => {
  const map = new BoundedMap<string, number>({ entries: 2 })
  map.set('a', 1)
  map.set('b', 2)
  expect(map.get('a')).toBe(1)
  map.set('c', 3)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3])
})

test('a value that is set again counts once', () => {
  const map = new BoundedMap<string, string>({ entries: 9, size: 10, sizeOf: (_, value) => value.length })
  for (let n = 0; n < 100; n++) map.set('a', '12345')
  map.set('b', '12345')
  expect([map.get('a'), map.get('b')]).toEqual(['12345', '12345'])
  map.set('a', '123456')
  expect([map.get('a'), map.get('b')]).toEqual(['123456', undefined])
})

test('a value that is too large is not kept, and drives nothing out', () => {
  const map = new BoundedMap<string, string>({ entries: 9, size: 10, sizeOf: (key) => key.length })
  map.set('a', 'kept')
  map.set('b'.repeat(11), 'too large')
  expect(map.size).toBe(1)
  expect(map.get('a')).toBe('kept')
})

test('a hundred thousand keys leave no more than the bound', () => {
  const map = new BoundedMap<string, number>({ entries: 1_000, size: 4_000, sizeOf: (key) => key.length })
  for (let n = 0; n < 100_000; n++) map.getOrMake(`key-${n}`, () => n)
  expect(map.size).toBeLessThanOrEqual(1_000)
  expect(map.values().at(-1)).toBe(99_999)
})

test('a cleared map is like a new one', () => {
  const map = new BoundedMap<string, string>({ entries: 2, size: 10, sizeOf: (_, value) => value.length })
  for (let round = 0; round < 3; round++) {
    for (const key of ['a', 'b', 'c']) map.set(key, '12345')
    expect(map.keys()).toEqual(['b', 'c'])
    map.clear()
    expect([map.size, map.get('c')]).toEqual([0, undefined])
  }
})

test('a key that is deleted frees its size', () => {
  const map = new BoundedMap<string, string>({ entries: 9, size: 10, sizeOf: (_, value) => value.length })
  map.set('a', '1234567890')
  map.delete('a')
  map.set('b', '1234567890')
  expect(map.get('b')).toBe('1234567890')
})

test('without a measure of its own both key and value count', () => {
  const map = new BoundedMap<string, object>({ entries: 1_000, size: 10_000 })
  for (let n = 0; n < 100; n++) map.set(`k${n}`, { status: { reason: 'x'.repeat(1_000) } })
  expect(map.size).toBe(9)
  map.set('k', { status: { reason: 'x'.repeat(10_000) } })
  map.set('l'.repeat(10_000), {})
  expect([map.get('k'), map.size]).toEqual([undefined, 9])
})

/** `gc` of V8, which collects all that is not reachable. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

test('what it has let go is garbage, however often the kept entries are used', async () => {
  const collect = collector()
  const map = new BoundedMap<string, object>({ entries: 100 })
  const gone: WeakRef<object>[] = []
  // in a function of its own, so that no local variable keeps a value
  const use = (): void => {
    for (let n = 0; n < 200; n++) {
      const value = { n }
      gone.push(new WeakRef(value))
      map.set(`key-${n}`, value)
      if (n % 3 === 0) map.delete(`key-${n}`)
    }
    for (let n = 0; n < 200; n++) map.delete(`key-${n}`)
    for (let n = 0; n < 10; n++) map.set(`kept-${n}`, {})
    for (let n = 0; n < 10_000; n++) map.get(`kept-${n % 10}`)
  }
  use()
  // a WeakRef keeps its target until the task ends
  await new Promise<void>((resolve) => setTimeout(resolve, 0))
  collect()
  expect(gone.filter((value) => value.deref() !== undefined)).toHaveLength(0)
})

test('using the entries again and again takes no memory', async () => {
  const collect = collector()
  const map = new BoundedMap<string, number>({ entries: 100 })
  const use = (times: number): void => {
    for (let n = 0; n < times; n++) map.get(`key-${n % 10}`)
  }
  for (let n = 0; n < 10; n++) map.set(`key-${n}`, n)
  use(10_000)
  collect()
  const before = process.memoryUsage().heapUsed
  use(200_000)
  collect()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(1_000_000)
})

test.each<[unknown, number]>([
  ['abc', 3],
  [7, 8],
  [null, 8],
  [{}, 8],
  [{ a: 'bc' }, 11],
  [['abc', 'd'], 14],
])('%j has the characters %i', (value, characters) => expect(charactersOf(value)).toBe(characters))
