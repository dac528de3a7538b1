import { expect, test } from 'vitest'
import fc from '../chance.ts'
import { sha256 } from '../../src/base/sha256.ts'

const hexadecimal = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

test.each([
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
])('of %j, as the standard has it', (text, digest) => {
  expect(hexadecimal(sha256(text))).toBe(digest)
})

test('of any text it is that of the platform', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 200 }), async (text) => {
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
      expect(hexadecimal(sha256(text))).toBe(hexadecimal(new Uint8Array(digest)))
    }),
  )
})
