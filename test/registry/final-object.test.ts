/**
 * An object that the server encodes once for both webhooks and storage yields the same texts as one encoded for each.
 */
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { asJson } from '../../src/api/object.ts'
import { encodeJson } from '../../src/codec/encode/encode.ts'
import { FinalObject, newValueOf } from '../../src/registry/stored-form.ts'
import { typeOfKind } from '../../src/schema/built-in.ts'
import { customKindType } from '../../src/schema/from-openapi.ts'
import type { StructType } from '../../src/schema/structural.ts'

const configMap = typeOfKind({ group: '', version: 'v1', kind: 'ConfigMap' })!
const role = typeOfKind({ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role' })!
const custom = customKindType('Thing', { group: 'example.com', version: 'v1', kind: 'Thing' }, undefined)

const made = (metadata: object, rest: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'blue', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
  ...rest,
})

const cases: [string, StructType, KubeObject][] = [
  ['an object', configMap, made({ labels: { app: 'web' } }, { data: { one: '1', quoted: '<a href="&">' } })],
  ['names that are whole numbers', configMap, made({}, { data: { b: '', 10: 'ten', 9: 'nine' } })],
  ['a text like the place of a revision', configMap, made({}, { data: { a: ',"resourceVersion":""' } })],
  ['an update', configMap, made({ resourceVersion: '12', ownerReferences: [{ uid: 'owner' }] })],
  ['a revision of zero', configMap, made({ resourceVersion: '0' })],
  ['an empty revision', configMap, made({ resourceVersion: '' })],
  ['a revision that is no number', configMap, made({ resourceVersion: '"<' })],
  ['an empty list that is never left out', role, made({}, { rules: [] })],
  ['an empty list inside of others', role, made({}, { rules: [{ verbs: [], apiGroups: [''] }] })],
  ['a list that is absent', role, made({})],
  ['a custom resource', custom, made({ annotations: { a: '' } }, { spec: { list: [], map: {}, none: null } })],
  ['an update of a custom resource', custom, made({ resourceVersion: '12' }, { spec: {} })],
  ['a custom resource with an empty revision', custom, made({ resourceVersion: '' })],
]

const strategy = { selectableFields: ({ metadata }: KubeObject) => ({ name: metadata.name ?? '' }) }

describe.each(cases)('%s', (_, type, object) => {
  test('has the text that webhooks see, if any', () => {
    const expected = encodeJson(type, asJson(object), { keepEmpty: true })
    expect(new FinalObject(type, object, strategy).textOf(object, type) ?? expected).toBe(expected)
  })

  test('is stored as ever', () => {
    const final = new FinalObject(type, object, strategy)
    expect(final.value()).toEqual(newValueOf(type, object, strategy))
    final.textOf(object, type)
    expect(final.value()).toEqual(newValueOf(type, object, strategy))
  })
})

test('is one text for most objects', () => {
  const shares = (type: StructType, object: KubeObject): boolean =>
    new FinalObject(type, object, strategy).textOf(object, type) !== undefined
  expect(cases.filter(([, type, object]) => !shares(type, object)).map(([what]) => what)).toEqual([
    'an empty revision',
    'a revision that is no number',
    'a custom resource with an empty revision',
  ])
})

test('has no text for another object or another type', () => {
  const object = made({})
  const final = new FinalObject(configMap, object, strategy)
  expect(final.textOf({ ...object }, configMap)).toBe(undefined)
  expect(final.textOf(object, role)).toBe(undefined)
})
