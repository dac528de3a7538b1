// A compiled definition is cached by its revision: after a restore, another definition may have the same uid and
// generation.
import { describe, expect, test } from 'vitest'
import type { CustomResourceDefinition } from '../../../src/api/apiextensions/v1.ts'
import { compiledVersion } from '../../../src/registry/custom-resources/compiled-versions.ts'

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
