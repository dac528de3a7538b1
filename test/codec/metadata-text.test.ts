import { expect, test } from 'vitest'
import fc from '../chance.ts'
import { metadataText } from '../../src/codec/metadata-text.ts'

test('cuts metadata out, whatever braces and quotes are in it', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (metadata, spec) => {
      const text = JSON.stringify({ kind: 'A', apiVersion: 'v1', metadata, spec })
      expect(metadataText(text)).toBe(JSON.stringify(metadata))
    }),
  )
})

test('only right after kind and apiVersion', () => {
  expect(metadataText('{"spec":{"metadata":{}},"metadata":{"name":"a"}}')).toBeUndefined()
  expect(() => metadataText('{"kind":"A","metadata":{"name":"a"')).toThrow()
})
