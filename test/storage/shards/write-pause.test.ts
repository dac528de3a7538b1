import { expect, it } from 'vitest'
import { WritePause } from '../../../src/storage/shards/write-pause.ts'

it('lets one write through now and then, ever more seldom, until one works', () => {
  let now = 1_000
  const pause = new WritePause(() => now)
  expect(pause.refusal('a')).toBeUndefined()
  pause.failed('a', 'Full')
  expect(pause.refusal('b')).toBeUndefined()
  const tried: number[] = []
  for (const end = now + 20_000; now < end; now += 100) {
    if (pause.refusal('a') !== undefined) continue
    tried.push(now - 1_000)
    pause.failed('a', 'Full')
  }
  expect(tried).toEqual([500, 1_500, 3_500, 7_500, 12_500, 17_500])
  pause.worked('a')
  expect(pause.refusal('a')).toBeUndefined()
  expect(pause.isFailing('a')).toBe(false)
})

it('tells all others while one tries, and says why', () => {
  let now = 0
  const pause = new WritePause(() => now)
  pause.failed('a', 'Full')
  expect(pause.refusal('a')).toBe('Full')
  now += 500
  expect([pause.refusal('a'), pause.refusal('a')]).toEqual([undefined, 'Full'])
  pause.failed('a', 'Failed')
  expect(pause.refusal('a')).toBe('Failed')
})

it('lets reads use the disk again when nobody has tried to write for a while', () => {
  let now = 0
  const pause = new WritePause(() => now)
  pause.failed('a', 'Full')
  now += 60_000
  expect(pause.isFailing('a')).toBe(true)
  now += 1_000
  expect(pause.isFailing('a')).toBe(false)
})
