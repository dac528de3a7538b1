import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/api/object.ts'
import { decodeObject } from '../../src/codec/decode/decode.ts'
import { copyWithEmptied, hasEmptied, sentField } from '../../src/schema/emptied.ts'
import { builtInType } from '../../src/schema/built-in.ts'
import { internalJson } from '../../src/validation/pod/internal-json.ts'

const POLICY = 'io.k8s.api.networking.v1.NetworkPolicySpec'

const decoded = (type: string, value: Json) => decodeObject(builtInType(type), value).object

describe('lists and maps that were sent empty', () => {
  test.each<[sent: Json, known: unknown]>([
    [{ ingress: [] }, []],
    [{ ingress: null }, undefined],
    [{}, undefined],
    [{ ingress: [{}] }, [{}]],
  ])('%j', (sent, known) => {
    const spec = decoded(POLICY, sent)
    expect(sentField(spec, 'ingress')).toEqual(known)
    expect(spec['ingress']).toEqual(Array.isArray(known) && known.length > 0 ? known : undefined)
  })

  test.each<[sent: Json, known: unknown]>([
    [true, null],
    [[], []],
    [null, undefined],
  ])('what is no schema is none: %j', (sent, known) => {
    const schema = decoded('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps', { items: sent })
    expect(schema).not.toHaveProperty('items')
    expect(sentField(schema, 'items')).toEqual(known)
  })

  test('are known of a copy too, until something stands in their place', () => {
    const copy = copyWithEmptied(decoded(POLICY, { podSelector: { matchLabels: {} }, policyTypes: [] }))
    expect(hasEmptied(copy)).toBe(true)
    expect(hasEmptied(copy, new Set(['podSelector']))).toBe(true)
    copy['policyTypes'] = ['Ingress']
    expect(hasEmptied(copy, new Set(['podSelector']))).toBe(false)
    expect(hasEmptied(structuredClone(copy))).toBe(false)
  })

  test('are shown in errors', () => {
    const type = 'io.k8s.api.batch.v1.PodFailurePolicyRule'
    const shown = (sent: Json) => internalJson(type, decoded(type, sent))
    expect(shown({ action: 'Ignore', onPodConditions: [] })).toMatchObject({ OnPodConditions: [] })
    expect(shown({ action: 'Ignore' })).toMatchObject({ OnPodConditions: null })
    expect(internalJson('io.k8s.api.core.v1.HTTPGetAction', {})).toMatchObject({ Port: 0, HTTPHeaders: null })
  })
})
