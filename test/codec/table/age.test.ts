import { expect, test } from 'vitest'
import { humanDuration, since } from '../../../src/codec/table/age.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY

test.each<[seconds: number, text: string]>([
  [-2, '<invalid>'],
  [-1.5, '0s'],
  [-0.5, '0s'],
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [121, '2m1s'],
  [10 * MINUTE - 1, '9m59s'],
  [10 * MINUTE + 1, '10m'],
  [3 * HOUR - 1, '179m'],
  [3 * HOUR, '3h'],
  [3 * HOUR + MINUTE, '3h1m'],
  [8 * HOUR - 1, '7h59m'],
  [8 * HOUR + MINUTE, '8h'],
  [2 * DAY - 1, '47h'],
  [2 * DAY, '2d'],
  [2 * DAY + HOUR, '2d1h'],
  [8 * DAY - 1, '7d23h'],
  [8 * DAY + HOUR, '8d'],
  [2 * YEAR - 1, '729d'],
  [2 * YEAR, '2y'],
  [2 * YEAR + DAY, '2y1d'],
  [8 * YEAR - 1, '7y364d'],
  [8 * YEAR + DAY, '8y'],
])('%d seconds are %s', (seconds, text) => expect(humanDuration(seconds * 1000)).toBe(text))

test('an object without a time has an unknown age', () => {
  expect(since(undefined, new Date())).toBe('<unknown>')
  expect(since(null, new Date())).toBe('<unknown>')
})
