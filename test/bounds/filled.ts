// Collections that are filled beyond their bound, and what is asked of each then. A test file mocks bounded-map.ts first.
import { describe, expect, test } from 'vitest'
import { recorded } from './recorded.ts'

export interface Filled {
  /** Whose collection. */
  readonly file: string
  readonly how: string
  readonly fill: () => Promise<void> | void
  /** What is made of a key takes more room than it; MOST holds all the same. */
  readonly isCompiled?: true
}

export const times = async (count: number, work: (n: number) => unknown): Promise<void> => {
  for (let n = 0; n < count; n++) await work(n)
}

/** Characters of keys and values; what has members counts as JSON. */
function heldBy({ map }: (typeof recorded)[number]): number {
  const of = (value: unknown): number =>
    typeof value === 'string'
      ? value.length
      : value instanceof Error
        ? value.message.length
        : (JSON.stringify(value) ?? '').length
  return [...map.keys(), ...map.values()].reduce((sum: number, value) => sum + of(value), 0)
}

/** More than any of these may hold. Characters. */
const MOST = 20 * 1024 * 1024

export function fillBeyondBounds(rows: readonly Filled[]): void {
  describe('filled beyond its bound', () => {
    test.each(rows)('$file: $how', async ({ file, fill, isCompiled = false }) => {
      const before = new Map(recorded.map((one) => [one, one.puts]))
      await fill()
      const filled = recorded.filter((one) => one.site === file && one.puts > (before.get(one) ?? 0))
      expect(filled).not.toEqual([])
      for (const one of filled) {
        const { entries, size = Infinity } = one.bounds
        const puts = one.puts - (before.get(one) ?? 0)
        // some of what was put into it is not there any more
        expect(one.map.size).toBeLessThan(puts)
        expect(one.most).toBeLessThanOrEqual(entries)
        if (size < Infinity && !isCompiled) expect(heldBy(one)).toBeLessThanOrEqual(size * 2 + 100 * entries)
        expect(heldBy(one)).toBeLessThanOrEqual(MOST)
      }
    })
  })
}
