import { describe, expect, it } from 'vitest'
import type { JsonTree } from '../../src/json/json.ts'
import { decodePatched } from '../../src/patch/decode-patched.ts'
import { customKindType } from '../../src/schema/from-openapi.ts'
import { builtInType } from '../../src/schema/built-in.ts'

const scale = builtInType('io.k8s.api.autoscaling.v1.Scale')
const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
const decode = (tree: JsonTree, hasInternal: boolean) => decodePatched(scale, kind, tree, () => {}, { hasInternal })

describe('a patched Scale without a version', () => {
  it('of a custom resource is what it is at its endpoint', () => {
    const { object } = decode({ spec: { replicas: 2 } }, false)
    expect(object).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 2 } })
    expect(() => decode({ kind: 'Other' }, false)).toThrow('no kind "Other" is registered for version "autoscaling/v1"')
  })

  it('of another resource is of the internal type, whose fields have other names', () => {
    for (const version of [{}, { apiVersion: '/' }])
      expect(decode({ ...version, spec: { replicas: 2 } }, true).strict).toEqual(['unknown field "spec"'])
  })
})

it('a patch of the status of a custom resource may say another version', () => {
  const kind = { group: 'example.com', version: 'v1', kind: 'Thing' }
  const thing = customKindType('Thing', kind, undefined)
  const tree = { apiVersion: 'example.com/v2', kind: 'Thing', metadata: { name: 'a' } }
  const decoded = decodePatched(thing, kind, tree, () => {}, { hasInternal: false, isStatus: true })
  expect(decoded.object).toMatchObject({ apiVersion: 'example.com/v1', metadata: { name: 'a' } })
  decoded.check?.()
  const refused = decodePatched(thing, kind, tree, () => {}, { hasInternal: false })
  expect(() => refused.check?.()).toThrow('must be example.com/v1')
})

it('a patch of a custom resource that says another version has the unknown fields of that version', () => {
  const kind = { group: 'example.com', version: 'v1', kind: 'Thing' }
  const ofVersion = (version: string, property: string) =>
    customKindType('', { ...kind, version }, { type: 'object', properties: { [property]: { type: 'integer' } } })
  const read = (apiVersion: string) =>
    decodePatched(ofVersion('v1', 'a'), kind, { apiVersion, kind: 'Thing', a: 1, b: 2 }, () => {}, {
      hasInternal: false,
      typeOfVersion: (version) => ofVersion(version, 'b'),
    })
  expect(read('example.com/v1').strict).toEqual(['unknown field "b"'])
  expect(read('example.com/v2').strict).toEqual(['unknown field "a"'])
  expect(() => read('example.com/v2').check?.()).toThrow('must be example.com/v1')
})
