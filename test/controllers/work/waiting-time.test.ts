import { expect, test } from 'vitest'
import { untilNextLook } from '../../../src/controllers/work/waiting-time.ts'

const DELETED = '2026-01-01T00:00:00Z'
const after = (seconds: number) => new Date(Date.parse(DELETED) + seconds * 1000)

test.each([
  [0, undefined, 1000],
  [16, undefined, 1000],
  [32, undefined, 2000],
  [3600, undefined, 225_000],
  [10 * 86_400, undefined, 1_000_000],
  [0, 10_000, 10_000],
  [320, 10_000, 20_000],
])('after %i s, at least %s: %i ms', (seconds, shortest, milliseconds) => {
  expect(untilNextLook(DELETED, after(seconds), shortest)).toBe(milliseconds)
})
