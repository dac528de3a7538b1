import { expect, test } from 'vitest'
import { StatusError } from '../../../src/api/status.ts'
import { isRefusal } from '../../../src/controllers/work/refusal.ts'
import type { StorageErrorCode } from '../../../src/storage/errors.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import { statusFor } from '../../../src/storage/storage-status.ts'

const PODS = { group: '', resource: 'pods' }

test.each([404, 409, 422, 429, 500, 503])('whatever a webhook answers is a refusal: %i', (code) => {
  expect(isRefusal(new StatusError(code, undefined, 'refused'))).toBe(true)
})

test.each<[StorageErrorCode, boolean]>([
  ['KeyExists', true],
  ['KeyNotFound', true],
  ['Conflict', true],
  ['TooLarge', true],
  ['Overloaded', false],
  ['Unavailable', false],
  ['Full', false],
  ['Failed', false],
  ['Uncertain', false],
  ['Restoring', false],
])('%s of the storage concerns one object: %s', (code, isOfOne) => {
  expect(isRefusal(statusFor(new StorageError(code), PODS, 'p'))).toBe(isOfOne)
})

test('what is no Status is no refusal', () => {
  expect(isRefusal(new Error('a fault'))).toBe(false)
})
