import { expect, test } from 'vitest'
import fc from '../chance.ts'
import { SortedEntries } from '../../src/tenancy/sorted-entries.ts'

const key = fc.oneof(
  fc.nat(400).map((n) => `n${n}`),
  fc.tuple(fc.constantFrom('a', 'a-b', 'ab', 'b'), fc.nat(60)).map(([space, n]) => `${space}/n${n}`),
)
const change = fc.tuple(key, fc.option(fc.nat(), { nil: undefined, freq: 3 }))

test('after any changes it has what a Map has, in the order of keys, and what was before stays as it was', () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 150 }), { maxLength: 20 }), (batches) => {
      const model = new Map<string, number>()
      let entries: SortedEntries<number> = SortedEntries.empty
      for (const batch of batches) {
        const [before, valuesBefore] = [entries, entries.values()]
        for (const [name, value] of batch)
          if (value === undefined) model.delete(name)
          else model.set(name, value)
        entries = entries.with(batch)
        expect(before.values()).toEqual(valuesBefore)
        const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1))
        expect(entries.values()).toEqual(sorted.map(([, value]) => value))
        expect(entries.isEmpty).toBe(model.size === 0)
        for (const space of ['a', 'ab'])
          expect(entries.range(`${space}/`, `${space}0`)).toEqual(
            sorted.filter(([name]) => name.startsWith(`${space}/`)).map(([, value]) => value),
          )
        for (const [name] of batch) expect(entries.get(name)).toBe(model.get(name))
        expect(entries.get('n')).toBeUndefined()
      }
    }),
  )
})
