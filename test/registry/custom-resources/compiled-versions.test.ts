// A compiled definition is cached by its revision: after a restore, another definition may have the same uid and
// generation.
import { describe, expect, test } from 'vitest'
import type { CustomResourceDefinition } from '../../../src/api/apiextensions/v1.ts'
import type { JsonObject } from '../../../src/api/object.ts'
import { compiledVersion, versionsRead } from '../../../src/registry/custom-resources/compiled-versions.ts'
import { applyStructuralDefaults } from '../../../src/schema/structural-default.ts'

const definition = (property: string, metadata: object = {}): CustomResourceDefinition => ({
  metadata: { name: 'things.example.com', uid: 'u', generation: 2, resourceVersion: '7', ...metadata },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { [property]: { type: 'string' } } } },
      },
    ],
  },
  status: { acceptedNames: { plural: 'things', kind: 'Thing' } },
})

const one = { uid: 'one' }
const fieldsOf = (tenant: { uid: string }, of: CustomResourceDefinition): string[] =>
  compiledVersion(tenant, of, 'v1').type.fields.map(({ name }) => name)

describe('a version of a definition', () => {
  test('is compiled once', () => {
    const first = definition('colour')
    expect(compiledVersion(one, first, 'v1')).toBe(compiledVersion(one, structuredClone(first), 'v1'))
  })

  test.each<[string, CustomResourceDefinition, { uid: string }]>([
    ['of the same generation, restored and changed', definition('size', { resourceVersion: '9' }), one],
    ['of another generation', definition('size', { generation: 3 }), one],
    ['of another control plane', definition('size'), { uid: 'other' }],
    ['of a control plane whose name goes on', definition('size'), { uid: 'one/u' }],
    ['made anew', definition('size', { uid: 'v' }), one],
  ])('%s is another one', (_, other, tenant) => {
    expect(fieldsOf(one, definition('colour'))).toContain('colour')
    expect(fieldsOf(tenant, other)).not.toContain('colour')
    expect(fieldsOf(tenant, other)).toContain('size')
  })
})

// most definitions with a Pod's template have a few defaults in a schema of some hundred KB
describe('of a long schema', () => {
  const described = { type: 'string', description: 'x'.repeat(70_000) }
  const withDefaults = (n: number) => {
    const of = definition('colour', { uid: crypto.randomUUID() })
    const properties = of.spec!.versions![0]!.schema!.openAPIV3Schema!.properties!
    properties['described'] = described
    for (let at = 0; at < n; at++) properties[`p${at}`] = { type: 'string', default: 'a' }
    return of
  }

  test.each<[string, number, boolean]>([
    ['a few defaults make no object large', 3, false],
    ['many defaults make each object large', 20_000, true],
  ])('%s, once the server has walked it', async (_, n, isLarge) => {
    const of = withDefaults(n)
    await versionsRead(one, of, 'v1')
    expect(compiledVersion(one, of, 'v1').makesLarge).toBe(isLarge)
    expect(versionsRead(one, of, 'v1')).toBeUndefined()
  })

  test('before that the defaults count as its whole length', async () => {
    const of = withDefaults(3)
    expect(compiledVersion(one, of, 'v1').makesLarge).toBe(true)
    await versionsRead(one, of, 'v1')
    expect(compiledVersion(one, of, 'v1').makesLarge).toBe(false)
  })
})

describe('an embedded object gets no member that metadata does not have', () => {
  const metadata = { name: 'Bar', unknown: 'unknown' }
  const whole = { apiVersion: 'foos/v1', kind: 'Foo', metadata }
  const embedded = (properties: Record<string, object>, more: object = {}) => ({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties,
    ...more,
  })
  const text = (value: string) => ({ type: 'string', default: value })
  const head = { apiVersion: text('foos/v1'), kind: text('Foo') }

  test.each<[string, object, JsonObject | undefined]>([
    [
      'by defaults of members of its metadata',
      embedded({ ...head, metadata: { type: 'object', properties: { name: text('Bar'), unknown: text('unknown') } } }),
      { metadata: {} },
    ],
    ['by a default of its metadata', embedded({ ...head, metadata: { type: 'object', default: metadata } }), {}],
    ['by a default of its own', embedded({ foo: { type: 'string' } }, { default: whole }), undefined],
    ['as part of a default', { type: 'array', items: embedded({}), default: [whole] }, undefined],
  ])('%s', (_, schema, sent) => {
    const of = definition('colour', { uid: crypto.randomUUID() })
    of.spec!.versions![0]!.schema!.openAPIV3Schema!.properties!['inner'] = schema
    const object: JsonObject = sent === undefined ? {} : { inner: sent }
    applyStructuralDefaults(compiledVersion(one, of, 'v1').type, object)
    const inner = Array.isArray(object['inner']) ? object['inner'][0] : object['inner']
    expect(inner).toEqual({ ...whole, metadata: { name: 'Bar' } })
  })

  test('nor does the next member of a list of its metadata, while the definition keeps its text', () => {
    const of = definition('colour', { uid: crypto.randomUUID() })
    const items = { type: 'object', properties: { kind: text('Thing'), colour: text('red') } }
    const owners = { type: 'array', items }
    const inner = embedded({ metadata: { type: 'object', properties: { ownerReferences: owners } } })
    of.spec!.versions![0]!.schema!.openAPIV3Schema!.properties!['inner'] = inner
    const object: JsonObject = { inner: { metadata: { ownerReferences: [{}] } } }
    applyStructuralDefaults(compiledVersion(one, of, 'v1').type, object)
    expect(object).toEqual({ inner: { metadata: { ownerReferences: [{ kind: 'Thing' }] } } })
    expect(items.properties.colour.default).toBe('red')
  })
})
