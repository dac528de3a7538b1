// Regular expression searches that take long: some run in one step, some in several, and some are refused.
import { beforeAll, expect, test } from 'vitest'
import { inParts } from '../../src/base/parts.ts'
import { inTurns } from '../../src/base/slices.ts'
import { goMatches, loadPatterns, searchedAtOnce, searchingIn } from '../../src/validation/go-pattern.ts'
import { validateValue } from '../../src/validation/value-validation.ts'

beforeAll(loadPatterns)

/** Each character costs about a thousand instructions. */
const DEAR = '[ab]{1000}c'
const long = (times: number) => 'a'.repeat(times)

test('a long search is not done at once', () => {
  expect(searchedAtOnce(() => goMatches(DEAR, long(500), {}))).toBe(false)
  expect(searchedAtOnce(() => goMatches(DEAR, long(5_000), {}))).toBeUndefined()
  // all searches of one walk share a budget
  const several = () => Array.from({ length: 20 }, () => goMatches(DEAR, long(500), {}))
  expect(searchedAtOnce(several)).toBeUndefined()
  expect(searchedAtOnce(() => several().slice(18))).toBeUndefined()
  expect(several()).toEqual(Array.from({ length: 20 }, () => false))
})

test('in parts a search goes on where it was', async () => {
  const schema = {
    type: 'object',
    properties: {
      a: { type: 'string', pattern: DEAR },
      b: { type: 'string', anyOf: [{ pattern: DEAR }, { pattern: 'b$' }] },
    },
  }
  const value = { a: `${long(9_000)}c`, b: `${long(9_000)}b` }
  let turns = 0
  const turn = async (): Promise<void> => void turns++
  expect(
    await inTurns(
      inParts(() => validateValue(schema, value)),
      turn,
    ),
  ).toEqual([])
  expect(turns).toBeGreaterThan(5)
  const wrong = await inTurns(
    inParts(() => validateValue(schema, { ...value, a: long(9_000) })),
    turn,
  )
  expect(wrong.map(({ message }) => message)).toEqual([expect.stringContaining(`should match '${DEAR}'`)])
})

test('one search has a bound, and those of one object have one together', () => {
  const tooLong = { error: 'its search in so long a text takes too long' }
  expect(goMatches(DEAR, long(50_000), {})).toEqual(tooLong)
  const several = () => Array.from({ length: 4 }, () => goMatches(DEAR, long(1_200), {}))
  expect(searchingIn({}, several, 1_000_000)).toEqual([false, false, tooLong, tooLong])
  // a typical pattern may search a text of a megabyte
  expect(goMatches('^[a-z]+([-a-z]*[a-z])?$', long(1_000_000), {})).toBe(true)
})
