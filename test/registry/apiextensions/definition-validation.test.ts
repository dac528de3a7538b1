import { beforeAll, expect, test } from 'vitest'
import type { CustomResourceDefinition, JSONSchemaProps } from '../../../src/api/apiextensions/v1.ts'
import { validateDefinition } from '../../../src/registry/apiextensions/definition-validation.ts'
import { loadPatterns } from '../../../src/validation/go-pattern.ts'

beforeAll(loadPatterns)

const withSchema = (openAPIV3Schema: JSONSchemaProps): CustomResourceDefinition => ({
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
  },
  status: { storedVersions: ['v1'] },
})

const texts = (definition: CustomResourceDefinition) =>
  validateDefinition(definition).map(({ field, message }) => `${field}: ${message}`)

const at = 'spec.validation.openAPIV3Schema'

test.each<[string, JSONSchemaProps, string[]]>([
  ['a structural schema', { type: 'object', properties: { spec: { type: 'object' } } }, []],
  [
    'no type',
    { type: 'object', properties: { a: {} } },
    [`${at}.properties[a].type: Required value: must not be empty for specified object fields`],
  ],
  [
    'no items',
    { type: 'object', properties: { a: { type: 'array' } } },
    [`${at}.properties[a].items: Required value: must be specified`],
  ],
  [
    'a type in an alternative',
    { type: 'object', properties: { a: { type: 'string', anyOf: [{ type: 'string' }] } } },
    [`${at}.properties[a].anyOf[0].type: Forbidden: must be empty to be structural`],
  ],
  [
    'a constraint of what is not declared',
    { type: 'object', not: { properties: { b: {} } } },
    [`${at}.properties[b]: Required value: because it is defined in ${at}.not.properties[b]`],
  ],
  [
    'a default that does not fit',
    { type: 'object', properties: { a: { type: 'integer', default: 'x' } } },
    [
      // the reference checks a default on its own: its message names no path
      `${at}.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"`,
    ],
  ],
  [
    'map keys that may be absent',
    {
      type: 'object',
      properties: {
        l: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', properties: { k: { type: 'string' } } },
        },
      },
    },
    [
      `${at}.properties[l].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
    ],
  ],
])('%s', (_name, schema, expected) => {
  expect(texts(withSchema(schema))).toEqual(expected)
})

test('groups of the community need an approval', () => {
  const definition = withSchema({ type: 'object' })
  definition.metadata.name = 'things.x.k8s.io'
  definition.spec!.group = 'x.k8s.io'
  expect(texts(definition)).toEqual([
    'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
  ])
})
