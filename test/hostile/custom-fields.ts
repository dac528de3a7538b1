// A custom resource with one field for each type of list and of map that a structural schema can declare.
import type { Json, JsonObject } from '../../src/api/object.ts'
import type { Definition } from '../bench/memory-target.ts'
import type { ListField } from './list-fields.ts'

const GROUP = 'fields.example.com'
const KEPT = { 'x-kubernetes-preserve-unknown-fields': true }

interface Element {
  readonly schema: JsonObject
  readonly value: (at: number) => Json
}

const elements: Readonly<Record<string, Element>> = {
  text: { schema: { type: 'string', minLength: 1, maxLength: 99 }, value: (at) => `v${at}` },
  wrongText: { schema: { type: 'string', pattern: '^w', enum: ['w'] }, value: (at) => `v${at}` },
  time: { schema: { type: 'string', format: 'date-time' }, value: () => '2026-01-01T00:00:00Z' },
  integer: { schema: { type: 'integer', minimum: 0, multipleOf: 1 }, value: (at) => at },
  number: { schema: { type: 'number', nullable: true }, value: (at) => at / 2 },
  either: { schema: { 'x-kubernetes-int-or-string': true }, value: (at) => (at % 2 === 0 ? at : `v${at}`) },
  named: {
    schema: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, value: { type: 'string', default: 'd' } },
    },
    value: (at) => ({ name: `n${at}`, unknown: at }),
  },
  ruled: {
    schema: {
      type: 'object',
      properties: { name: { type: 'string', maxLength: 9 } },
      'x-kubernetes-validations': [{ rule: 'has(self.name)' }],
    },
    value: (at) => ({ name: `n${at}` }),
  },
  free: { schema: { type: 'object', ...KEPT }, value: (at) => ({ a: at, b: { c: [at] } }) },
  nested: {
    schema: { type: 'array', maxItems: 3, items: { type: 'array', maxItems: 3, items: { type: 'integer' } } },
    value: (at) => [[at], [at]],
  },
}

const listOf = ({ schema }: Element, more: JsonObject = {}): JsonObject => ({
  type: 'array',
  maxItems: 100_000,
  items: schema,
  ...more,
})
const mapOf = ({ schema }: Element, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  maxProperties: 100_000,
  additionalProperties: schema,
  ...more,
})

type Long = readonly [name: string, schema: JsonObject, make: (n: number) => Json]

const many = (n: number, { value }: Element): Json[] => Array.from({ length: n }, (_, at) => value(at))
const longs: readonly Long[] = Object.entries(elements).flatMap(([name, element]): Long[] => {
  const list = (n: number): Json => many(n, element)
  const map = (n: number): Json => Object.fromEntries(many(n, element).map((value, at) => [`k${at}`, value]))
  const { type } = element.schema
  const special: Long[] =
    name === 'named'
      ? [
          [
            'namedByKey',
            listOf(element, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
            list,
          ],
        ]
      : type === 'string' || type === 'integer'
        ? [[`${name}Set`, listOf(element, { 'x-kubernetes-list-type': 'set' }), list]]
        : []
  return [
    [`${name}List`, listOf(element), list],
    [`${name}Map`, mapOf(element), map],
    [`${name}AtomicMap`, mapOf(element, { 'x-kubernetes-map-type': 'atomic' }), map],
    ...special,
  ]
})

const properties: JsonObject = Object.fromEntries(longs.map(([name, schema]) => [name, schema]))

export const customDefinition: Definition = {
  metadata: { name: `shapes.${GROUP}` },
  spec: {
    group: GROUP,
    names: { plural: 'shapes', singular: 'shape', kind: 'Shape', listKind: 'ShapeList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
      },
    ],
  },
}

export const customFields = (): ListField[] =>
  longs.map(([name, , make]) => ({
    path: `Shape.spec.${name}`,
    url: `/apis/${GROUP}/v1/namespaces/default/shapes?dryRun=All`,
    resource: { group: GROUP, resource: 'shapes', namespaced: true },
    verbs: ['create', 'update', 'patch'],
    isMap: name.endsWith('Map'),
    object: (n) => ({
      apiVersion: `${GROUP}/v1`,
      kind: 'Shape',
      metadata: { name: 'a' },
      spec: { [name]: make(n) },
    }),
  }))
