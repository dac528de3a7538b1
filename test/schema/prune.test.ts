import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { decodeObject } from '../../src/codec/decode/decode.ts'
import { applyStructuralDefaults } from '../../src/schema/structural-default.ts'
import { customKindType } from '../../src/schema/from-openapi.ts'

const gvk = { group: 'example.com', version: 'v1', kind: 'Thing' }
const kind = (properties: JsonObject) => customKindType('com.example.v1.Thing', gvk, { type: 'object', properties })

const decoded = (properties: JsonObject, body: JsonObject) => {
  const type = kind(properties)
  const { object, strict } = decodeObject(type, structuredClone(body))
  applyStructuralDefaults(type, object)
  return { object, strict }
}

const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } }

test('undeclared fields are removed and reported', () => {
  const spec = {
    type: 'object',
    properties: { a: { type: 'string' }, list: { type: 'array', items: { type: 'object' } } },
  }
  expect(decoded({ spec }, { ...thing, spec: { a: 'x', b: 1, list: [{ c: 1 }] }, other: 1 })).toEqual({
    object: { ...thing, spec: { a: 'x', list: [{}] } },
    strict: ['unknown field "other"', 'unknown field "spec.b"', 'unknown field "spec.list[0].c"'],
  })
})

test('what preserves unknown fields keeps them, but for those within what is declared', () => {
  const spec = {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { known: { type: 'object', properties: {} } },
  }
  expect(decoded({ spec }, { ...thing, spec: { any: { b: 1 }, known: { c: 1 } } }).object).toEqual({
    ...thing,
    spec: { any: { b: 1 }, known: {} },
  })
})

test.each<[string, JsonObject, JsonObject, JsonObject]>([
  ['beside properties', { properties: { a: { type: 'string', default: 'x' } } }, {}, { a: 'x' }],
  [
    'keeps members, but nothing inside of their objects',
    { properties: { a: { type: 'string' } } },
    { b: 1, c: { d: 1 }, e: [{ f: 1 }, [{ g: 1 }], 2], h: null, a: null },
    { b: 1, c: {}, e: [{}, [{}], 2], h: null },
  ],
  ['without properties does the same', {}, { b: 1, c: { d: 1 }, h: null }, { b: 1, c: {}, h: null }],
])('additionalProperties: true %s', (_, schema, given, expected) => {
  const spec = { type: 'object', additionalProperties: true, ...schema }
  expect(decoded({ spec }, { ...thing, spec: given }).object).toEqual({ ...thing, spec: expected })
})

test('defaults fill what is absent, and nulls where none may be', () => {
  const spec = {
    type: 'object',
    default: {},
    properties: {
      a: { type: 'integer', default: 1 },
      b: { type: 'integer', default: 2, nullable: true },
      c: { type: 'integer' },
    },
  }
  expect(decoded({ spec }, thing).object).toEqual({ ...thing, spec: { a: 1, b: 2 } })
  expect(decoded({ spec }, { ...thing, spec: { a: null, b: null, c: null } }).object).toEqual({
    ...thing,
    spec: { a: 1, b: null },
  })
})

test('a whole object within another one has a metadata of its own', () => {
  const template = { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } }
  const body = {
    ...thing,
    template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', odd: 1 }, spec: { a: 1 } },
  }
  expect(decoded({ template }, body)).toEqual({
    object: { ...thing, template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: {} } },
    strict: ['unknown field "template.spec.a"', 'unknown field "template.metadata.odd"'],
  })
})
