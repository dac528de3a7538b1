import { describe, expect, it } from 'vitest'
import { goString, goType, goValue } from '../../src/go/value.ts'

describe('%s of a value that should have been a text', () => {
  it.each([
    ['merge', 'merge'],
    [null, '%!s(<nil>)'],
    [3n, '%!s(int64=3)'],
    [true, '%!s(bool=true)'],
    [[null], '[<nil>]'],
    [['a', 1n], '[a %!s(int64=1)]'],
    [{ b: 'x', a: [null] }, 'map[a:[<nil>] b:x]'],
  ])('%j', (value, text) => {
    expect(goString(value)).toBe(text)
  })
})

describe('a whole number is a float from 2^53 on, where it is no bigint', () => {
  it.each([
    [2 ** 53 - 1, 'int64', '9007199254740991'],
    [9223372036854775807n, 'int64', '9223372036854775807'],
    [2 ** 63, 'float64', '9.223372036854776e+18'],
    [1e20, 'float64', '1e+20'],
  ])('%s', (value, type, text) => {
    expect([goType(value), goValue(value)]).toEqual([type, text])
  })
})
