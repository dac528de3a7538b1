import { describe, expect, it } from 'vitest'
import { decodeDeleteOptions } from '../../../src/endpoints/bodies/decode-body.ts'
import { memoryServer } from '../../request-in-memory.ts'

const decode = (document: object) =>
  decodeDeleteOptions(memoryServer().request('/'), 'json', new TextEncoder().encode(JSON.stringify(document)))

describe('the body of a DELETE', () => {
  it.each(['', '/', 'v1', 'meta.k8s.io/', 'meta.k8s.io/v1', 'policy/v1'])(
    'is DeleteOptions of version %j',
    async (apiVersion) => {
      expect(await decode({ apiVersion, kind: 'DeleteOptions', gracePeriodSeconds: 3 })).toMatchObject({
        gracePeriodSeconds: 3,
      })
    },
  )

  it.each([
    ['', 'Status', 'converting (v1.Status) to (v1.DeleteOptions): unknown conversion'],
    ['apps/v1', 'CreateOptions', 'converting (v1.CreateOptions) to (v1.DeleteOptions): unknown conversion'],
    ['', 'Table', 'converting (v1.Table) to (v1.DeleteOptions): unknown conversion'],
    ['v1', 'Table', 'no kind "Table" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"'],
    ['', 'Pod', 'no kind "Pod" is registered for version "meta.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"'],
    [
      'meta.k8s.io/v1beta1',
      'PartialObjectMetadataList',
      'converting (v1beta1.PartialObjectMetadataList) to (v1.DeleteOptions): unknown conversion',
    ],
    ['/', 'P"od', 'no kind "P\\"od" is registered for version "meta.k8s.io/v1" in scheme'],
    ['x/', 'DeleteOptions', `Object 'apiVersion' is missing in '{"apiVersion":"x/","kind":"DeleteOptions"}'`],
    ['a/b/c', 'DeleteOptions', 'unexpected GroupVersion string: a/b/c'],
  ])('%j %s is refused', async (apiVersion, kind, message) => {
    await expect(decode({ apiVersion, kind })).rejects.toThrow(message)
  })
})
