import { expect, test } from 'vitest'
import { ownValue, setOwn } from '../../src/base/own.ts'
import { prototypeNames } from '../prototype-names.ts'

test.each(prototypeNames)('%s is a key like any other', (name) => {
  const object: Record<string, unknown> = {}
  expect(ownValue(object, name)).toBeUndefined()
  setOwn(object, name, 'x')
  expect(ownValue(object, name)).toBe('x')
  expect(Object.entries(object)).toEqual([[name, 'x']])
  expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
  setOwn(object, name, undefined)
  expect(ownValue(object, name)).toBeUndefined()
})

test.each(prototypeNames)('%s of JSON is read', (name) => {
  const parsed = JSON.parse(`{${JSON.stringify(name)}: {"a": 1}}`) as Record<string, unknown>
  expect(ownValue(parsed, name)).toEqual({ a: 1 })
})

test('a table of functions has its own', () => {
  const table = { constructor: () => 'own' }
  expect(ownValue(table, 'constructor')?.()).toBe('own')
  expect(ownValue(table, 'toString')).toBeUndefined()
})

test('nothing has no values', () => expect(ownValue(undefined, 'constructor')).toBeUndefined())
