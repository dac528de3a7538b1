import fc from '../chance.ts'
import { expect, test } from 'vitest'
import { Gathered } from '../../src/base/gathered.ts'

test('the whole is the pieces in their order, and they stay what they were', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 30 }), (pieces) => {
      const before = pieces.map((piece) => [...piece])
      const gathered = new Gathered()
      for (const piece of pieces) gathered.add(piece)
      expect([...gathered.whole()]).toEqual(before.flat())
      expect(gathered.length).toBe(before.flat().length)
      expect(pieces.map((piece) => [...piece])).toEqual(before)
    }),
  )
})

test('a million pieces of one octet take twice the room of a million octets', () => {
  const gathered = new Gathered()
  const buffers = new Set<ArrayBufferLike>()
  for (let count = 0; count < 1_000_000; count++) {
    gathered.add(Uint8Array.of(count & 0xff))
    buffers.add(gathered.whole().buffer)
  }
  expect(gathered.whole().buffer.byteLength).toBeLessThanOrEqual(2_000_000)
  // the buffer grew a few times, with one copy each time
  expect(buffers.size).toBeLessThan(25)
})
