import { expect, test } from 'vitest'
import { invalidValue, path } from '../../src/api/field.ts'
import { inParts } from '../../src/api/parts.ts'
import { atOnce, inTurns } from '../../src/api/slices.ts'
import { MAX_PROBLEMS } from '../../src/api/status.ts'
import { errorsByName, errorsOf } from '../../src/validation/errors-of.ts'

const wrong = (index: number) => [
  invalidValue(path('list').index(index), '', 'no'),
  invalidValue(path('list'), '', 'no'),
]

test('more wrong items than an answer tells are not looked at', async () => {
  const items = Array.from({ length: 4 * MAX_PROBLEMS }, () => '')
  let looked = 0
  const walk = () =>
    errorsOf(items, (_, index) => {
      looked++
      return wrong(index)
    })
  expect(atOnce(inParts(walk))).toHaveLength(MAX_PROBLEMS)
  expect(looked).toBe(MAX_PROBLEMS / 2)
  let turns = 0
  expect(await inTurns(inParts(walk), async () => void turns++)).toHaveLength(MAX_PROBLEMS)
  expect(looked).toBe(MAX_PROBLEMS)
  expect(turns).toBeGreaterThan(3)
})

test('members are looked at in the order of their names', () => {
  const errors = errorsByName({ b: 1, a: 2, __proto__x: 3 }, (name) => [invalidValue(path(name), '', 'no')])
  expect(errors.map(({ field }) => field)).toEqual(['__proto__x', 'a', 'b'])
})
