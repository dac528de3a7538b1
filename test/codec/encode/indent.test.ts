import { expect, test } from 'vitest'
import fc from '../../chance.ts'
import { indented, Indenter } from '../../../src/codec/encode/indent.ts'

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

test('indents as MarshalIndent', () => {
  expect(textOf(indented('{"a":{},"b":[],"c":["x:{,",1],"d":"\\\\"}'))).toBe(
    '{\n  "a": {},\n  "b": [],\n  "c": [\n    "x:{,",\n    1\n  ],\n  "d": "\\\\"\n}',
  )
})

test('any document, wherever its pieces end', () => {
  fc.assert(
    fc.property(fc.json(), fc.integer({ min: 1, max: 9 }), (json, size) => {
      const value = JSON.parse(json) as unknown
      const bytes = new TextEncoder().encode(JSON.stringify(value))
      const indenter = new Indenter()
      const pieces: Uint8Array[] = []
      for (let at = 0; at < bytes.length; at += size) pieces.push(indenter.add(bytes.subarray(at, at + size)))
      expect(Buffer.concat(pieces).toString()).toBe(JSON.stringify(value, null, 2))
    }),
  )
})
