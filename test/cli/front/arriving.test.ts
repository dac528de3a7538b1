import { expect, test } from 'vitest'
import { arriving, copied } from '../../../src/cli/front/arriving.ts'

/** Octets arrive from a socket in the same buffer each time. */
function arrived(length: number, octet: number): number {
  arriving.fill(octet, 0, length)
  return length
}

test.each([1, 4_095, 4_096, 65_536])('%d octets that arrived stay unchanged when more arrive', (length) => {
  const [first] = copied(arrived(length, 1))
  const [second] = copied(arrived(length, 2))
  expect(first).toEqual(Buffer.alloc(length, 1))
  expect(second).toEqual(Buffer.alloc(length, 2))
})

test('up to 32 blocks are reused once no reader holds them', () => {
  const taken = Array.from({ length: 40 }, (_, at) => copied(arrived(10_000, at)))
  const blocks = new Set(taken.map(([{ buffer }]) => buffer))
  expect(blocks.size).toBe(40)
  for (const [, done] of taken) done!()
  const again = Array.from({ length: 40 }, () => copied(arrived(10_000, 0))[0].buffer)
  expect(again.filter((buffer) => blocks.has(buffer))).toHaveLength(32)
})
