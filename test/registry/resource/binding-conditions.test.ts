import { expect, test } from 'vitest'
import { path } from '../../../src/api/field.ts'
import { bindingConditionErrors } from '../../../src/registry/resource/binding-conditions.ts'
import { noteEmptied } from '../../../src/schema/emptied.ts'

const MISSING = 'bindingFailureConditions are required to use bindingConditions'

test.each([
  [false, `Invalid value: null: ${MISSING}`],
  [true, `Invalid value: []: ${MISSING}`],
])('failure conditions that were sent empty (%s) are shown so', (sentEmpty, message) => {
  const conditions = { bindingConditions: ['ready'] }
  if (sentEmpty) noteEmptied(conditions, 'bindingFailureConditions', [])
  expect(bindingConditionErrors(conditions, path('basic')).map((error) => error.message)).toEqual([message])
})
