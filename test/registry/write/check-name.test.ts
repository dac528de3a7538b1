import { expect, it } from 'vitest'
import { checkName } from '../../../src/registry/write/check-name.ts'

it.each([
  [{ name: 'b', namespace: 'other' }, 'the namespace of the provided object does not match'],
  [{ name: 'b', namespace: 'n' }, 'the name of the object (b) does not match the name on the URL (a)'],
  [{}, 'was undeterminable: name must be provided'],
])('of an object %j the namespace is looked at first', (metadata, message) => {
  expect(() => checkName({ name: 'a', namespace: 'n' }, { metadata })).toThrow(message)
})
