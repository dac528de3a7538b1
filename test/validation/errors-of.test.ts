import { expect, test } from 'vitest'
import { invalidValue, path } from '../../src/api/field.ts'
import { inParts } from '../../src/base/parts.ts'
import { atOnce, inTurns } from '../../src/base/slices.ts'
import { MAX_PROBLEMS, MAX_REPORTED } from '../../src/api/status.ts'
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

test('of a list that each message shows whole, no more is made than an answer tells', () => {
  const items = Array.from({ length: 20_000 }, (_, at) => `item-${at}`)
  let shown = 0
  const errors = errorsOf(items, () => {
    shown++
    return [invalidValue(path('list'), items, 'no')]
  })
  expect(shown).toBe(Math.ceil(MAX_REPORTED / JSON.stringify(items).length))
  expect(errors).toHaveLength(shown)
  const byName = errorsByName({ ...items }, () => [invalidValue(path('list'), items, 'no')])
  expect(byName).toHaveLength(shown)
})

test('members are looked at in the order of their names', () => {
  const errors = errorsByName({ b: 1, a: 2, __proto__x: 3 }, (name) => [invalidValue(path(name), '', 'no')])
  expect(errors.map(({ field }) => field)).toEqual(['__proto__x', 'a', 'b'])
})

test('what a walk adds to the errors of a list is added once, however often it runs', async () => {
  const list = ['a']
  const others = Array.from({ length: 100 }, () => '')
  const walk = () => {
    const errors = errorsOf(list, () => [invalidValue(path('list'), '', 'no')])
    errors.push(invalidValue(path('all'), '', 'no'))
    return [...errors, ...errorsOf(others, () => [])]
  }
  expect(await inTurns(inParts(walk, 1), async () => {})).toHaveLength(2)
})
