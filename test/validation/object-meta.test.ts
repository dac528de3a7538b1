import { describe, expect, test } from 'vitest'
import { path } from '../../src/api/field.ts'
import type { Json, ObjectMeta } from '../../src/api/object.ts'
import { decodeObject } from '../../src/codec/decode/decode.ts'
import { builtInType } from '../../src/schema/built-in.ts'
import { subdomainName } from '../../src/validation/names.ts'
import {
  validateAnyMeta,
  validateKindMetaUpdate,
  validateObjectMeta,
  validateTemplateMeta,
} from '../../src/validation/object-meta.ts'

const decoded = (sent: Json): ObjectMeta =>
  decodeObject(builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'), sent).object as ObjectMeta
const fields = (errors: readonly { field: string; message: string }[]) => errors.map(({ field }) => field)

describe('metadata', () => {
  test.each<[finalizer: string, ofAny: string[], ofKinds: string[]]>([
    ['example.com/x', [], []],
    ['kubernetes', [], []],
    ['x', [], ['metadata.finalizers[0]']],
    [
      '',
      ['metadata.finalizers', 'metadata.finalizers'],
      ['metadata.finalizers', 'metadata.finalizers', 'metadata.finalizers[0]'],
    ],
  ])('finalizer %j: only kinds of their own know the standard ones', (finalizer, ofAny, ofKinds) => {
    const meta = { name: 'n', finalizers: [finalizer] }
    expect(fields(validateAnyMeta(meta, false, subdomainName))).toEqual(ofAny)
    expect(fields(validateObjectMeta(meta, false, subdomainName))).toEqual(ofKinds)
  })

  test('a change is compared, a finalizer that nobody knows is told then too', () => {
    const old = { name: 'n', generation: 2 }
    expect(fields(validateKindMetaUpdate({ name: 'm', generation: 1, finalizers: ['x'] }, old))).toEqual([
      'metadata.generation',
      'metadata.name',
      'metadata.finalizers[0]',
    ])
  })

  test.each<[sent: Json, wrong: string[]]>([
    [{ labels: { a: 'b' }, annotations: { c: 'd' } }, []],
    [{ uid: 'u', name: 'n', finalizers: ['x/y'] }, ['metadata.name', 'metadata.uID', 'metadata.finalizers']],
    [{ ownerReferences: [] }, ['metadata.ownerReferences']],
    [{ generation: 1, selfLink: '/' }, ['metadata.selfLink', 'metadata.generation']],
  ])('of a template: %j', (sent, wrong) => {
    expect(fields(validateTemplateMeta(decoded(sent), path('metadata')))).toEqual(wrong)
  })

  test('owners are shown in the order of their type, whatever order they came in', () => {
    const owner = (name: string) => ({ controller: true, uid: 'u', name, kind: 'Secret', apiVersion: 'v1' })
    const [error] = validateAnyMeta({ name: 'x', ownerReferences: [owner('a'), owner('b')] }, false, subdomainName)
    expect(error?.message).toContain('{"apiVersion":"v1","kind":"Secret","name":"b","uid":"u","controller":true}')
  })
})
