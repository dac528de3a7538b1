import { describe, expect, it } from 'vitest'
import { goString } from '../../src/go/value.ts'

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
