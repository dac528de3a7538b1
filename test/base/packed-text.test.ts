import { describe, expect, test } from 'vitest'
import { pack, PackedText } from '../../src/base/packed-text.ts'
import { definition } from '../bench/definition.ts'
import fc from '../chance.ts'

const packed = (text: string): PackedText => {
  const one = new PackedText(text)
  one.pack()
  return one
}

test('a definition takes a fraction of its text, and reads as it was', () => {
  const text = definition(7)
  const bytes = new TextEncoder().encode(text)
  expect(pack(bytes).length).toBeLessThan(bytes.length / 5)
  const one = new PackedText(text)
  expect(one.pack()).toBe(true)
  expect(one.text).toBe(text)
  expect(one.pack()).toBe(true)
})

const edges: readonly (readonly [what: string, text: string])[] = [
  ['nothing', ''],
  ['one letter', 'a'],
  ['fewer than are packed', 'ab'.repeat(100)],
  ['one letter again and again', 'a'.repeat(100_000)],
  ['letters of two, three and four bytes', 'aß\u20ac\u{1f600}'.repeat(1_000)],
  ['a surrogate alone', `${'a'.repeat(5_000)}\ud800`],
  ['nothing that repeats itself', Array.from({ length: 3_000 }, (_, n) => String.fromCharCode(32 + n)).join('')],
  ['what was too long ago', `${'x'.repeat(20)}${[...Array(70_000).keys()].join('')}${'x'.repeat(20)}`],
  ['more than the buffer', JSON.stringify(Array.from({ length: 60_000 }, (_, n) => ({ n, name: 'a name' })))],
]
test.each(edges)('%s reads as it was', (_, text) => expect(packed(text).text).toBe(text))

test('what a copy takes is told at every length', () => {
  for (let length = 0; length < 600; length++) {
    const text = `${'0123456789'.repeat(120)}${'z'.repeat(length)}|${'y'.repeat(length % 40)}${'0123456789'.repeat(2)}`
    expect(packed(text).text).toBe(text)
  }
})

describe('any text', () => {
  const readsAsItWas = (text: string): void => {
    expect(packed(text).text).toBe(text)
  }

  test('of few letters', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'ab', 'description', '"type":', 'ü', '\u{1f600}'), {
      maxLength: 3_000,
      minLength: 300,
    })
    fc.assert(fc.property(words, (some) => readsAsItWas(some.join(''))))
  })

  test('of all', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), readsAsItWas))
  })
})
