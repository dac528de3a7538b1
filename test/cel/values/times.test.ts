import { expect, test } from 'vitest'
import { durationText } from '../../../src/cel/values/times.ts'
import { Duration } from '../../../src/cel/values/value.ts'

test.each([
  [0n, '0s'],
  [1n, '0.000000001s'],
  [-100n, '-0.0000001s'],
  [1_000n, '0.000001s'],
  [1_500_000_000n, '1.5s'],
  [-180_000_000_000n, '-180s'],
  [5_405_500_000_000n, '5405.5s'],
  // cel-go adds seconds and fraction as float64
  [1_500_000_100n, '1.5000000999999998s'],
  [1_709_207_819_876_543_211n, '1709207819.8765433s'],
  [-9_223_372_036_854_775_808n, '-9223372036.854776s'],
])('a duration of %s nanoseconds is %s', (nanos, text) => {
  expect(durationText(new Duration(nanos))).toBe(text)
})
