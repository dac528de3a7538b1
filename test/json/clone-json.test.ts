import { expect, test } from 'vitest'
import { cloneJson } from '../../src/json/clone-json.ts'

test.each<[string, unknown]>([
  ['nothing', null],
  ['a number beyond doubles', 12345678901234567890n],
  ['lists and objects in one another', { a: [{ b: ['c', 1, true, null] }, []], d: {} }],
  ['names in their order', { z: 1, a: 2, '1': 3 }],
  ['a member that is undefined', { a: undefined }],
  ['a member with the name of the prototype', JSON.parse('{"__proto__":{"a":1},"constructor":2}')],
])('%s is copied', (_, value) => {
  const copy = cloneJson(value)
  expect(copy).toStrictEqual(value)
  if (typeof value === 'object' && value !== null) {
    expect(Object.keys(copy as object)).toEqual(Object.keys(value))
    expect(copy).not.toBe(value)
  }
})

test('nothing is shared', () => {
  const value = { a: [{ b: 1 }] }
  const copy = cloneJson(value)
  copy.a[0]!.b = 2
  expect(value).toEqual({ a: [{ b: 1 }] })
})
