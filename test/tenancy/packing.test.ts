import { expect, test } from 'vitest'
import type { PackedText } from '../../src/base/packed-text.ts'
import { packedLater, packOld } from '../../src/tenancy/packing.ts'
import { definition } from '../bench/definition.ts'

const isPlain = ({ plainLength }: PackedText): boolean => plainLength > 0
const MAX_PLAIN = 2 * 1024 * 1024
const turn = () => Promise.resolve()

test('all but the last are packed, and read as before', async () => {
  const texts = Array.from({ length: 300 }, (_, n) => definition(n))
  const kept = texts.map((text) => packedLater(text))
  await packOld(turn)
  const plain = kept.filter(isPlain)
  expect(plain).toEqual(kept.slice(-plain.length))
  const length = plain.reduce((sum, { plainLength }) => sum + plainLength, 0)
  expect(length).toBeLessThanOrEqual(MAX_PLAIN)
  expect(length).toBeGreaterThan(MAX_PLAIN - 100_000)
  expect(kept.map(({ text }) => text)).toEqual(texts)
})

test('a text that was replaced meanwhile is not packed', async () => {
  const kept = Array.from({ length: 300 }, (_, n) => packedLater(definition(n)))
  kept[0]!.stayPlain()
  await packOld(turn)
  expect(kept.slice(0, 100).map(isPlain)).toEqual([true, ...Array<boolean>(99).fill(false)])
})

test('others have their turn after each slice of it', async () => {
  const kept = Array.from({ length: 300 }, (_, n) => packedLater(definition(n)))
  let [before, most] = [kept.length, 0]
  await packOld(async () => {
    const now = kept.filter(isPlain).length
    most = Math.max(most, before - now)
    before = now
  })
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(4)
})

test('one that a request left in the middle is gone on with', async () => {
  const kept = Array.from({ length: 300 }, (_, n) => packedLater(definition(n)))
  let turns = 0
  void packOld(() => (++turns < 5 ? turn() : new Promise(() => {})))
  while (turns < 5) await turn()
  expect(isPlain(kept[150]!)).toBe(true)
  await packOld(turn)
  expect(isPlain(kept[150]!)).toBe(false)
})
