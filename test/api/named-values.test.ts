import { expect, test } from 'vitest'
import { invalidValue, named, notSupported, notSupportedString, path } from '../../src/api/field.ts'

const at = path('a')
const TEXT = 'a<b>\x01'

// Go formats a plain string with %q, and a string of any other type as JSON
test.each([
  [invalidValue(at, TEXT, 'x').message, 'Invalid value: "a<b>\\x01": x'],
  [invalidValue(at, named(TEXT), 'x').message, 'Invalid value: "a\\u003cb\\u003e\\u0001": x'],
  [notSupported(at, TEXT, ['y']).message, 'Unsupported value: "a\\u003cb\\u003e\\u0001": supported values: "y"'],
  [notSupportedString(at, TEXT, ['y']).message, 'Unsupported value: "a<b>\\x01": supported values: "y"'],
])('%s', (message, expected) => {
  expect(message).toBe(expected)
})
