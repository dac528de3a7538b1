// Defaults of custom resources that make a large object of a small one.
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { inParts } from '../../src/base/parts.ts'
import { inTurns } from '../../src/base/slices.ts'
import { growthByDefaults } from '../../src/schema/default-growth.ts'
import { customKindType } from '../../src/schema/from-openapi.ts'
import { MAX_ADDED, applyDefaultsToStored, applyStructuralDefaults } from '../../src/schema/structural-default.ts'

const many = (n: number, one: (at: number) => JsonObject): JsonObject[] => Array.from({ length: n }, (_, at) => one(at))
const object = (properties: JsonObject): JsonObject => ({ type: 'object', properties })
const defaults = (n: number, value: JsonObject | string): JsonObject =>
  object(Object.fromEntries(Array.from({ length: n }, (_, at) => [`p${at}`, { default: value, ...typed(value) }])))
const typed = (value: JsonObject | string): JsonObject =>
  typeof value === 'string' ? { type: 'string' } : { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const listOf = (items: JsonObject): JsonObject => object({ list: { type: 'array', items } })
const typeOf = (spec: JsonObject) => customKindType('K', { group: 'g', version: 'v1', kind: 'K' }, object({ spec }))

const cases: Readonly<Record<string, JsonObject>> = {
  scalars: defaults(20, 'a'),
  texts: defaults(1, 'x'.repeat(10_000)),
  objects: defaults(1, Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`k${at}`, '']))),
}

test.each(Object.entries(cases))('%s in each of many items are no more than a bound', async (_, items) => {
  const type = typeOf(listOf(items))
  const given = () => ({ spec: { list: many(50_000, () => ({})) } })
  const refusal = { code: 413 }
  expect(() => applyStructuralDefaults(type, given())).toThrow(expect.objectContaining(refusal))
  const walked = given()
  await expect(inTurns(inParts(() => applyStructuralDefaults(type, walked)))).rejects.toMatchObject(refusal)
  const text = JSON.stringify(walked)
  expect(text.length).toBeLessThan(MAX_ADDED * 1.1)
})

test.each(Object.entries(cases))('%s beyond the bound are left out of an object of storage', async (_, items) => {
  const type = typeOf(listOf(items))
  const given = () => ({ spec: { list: many(50_000, () => ({})) } })
  const [filled, walked] = [given(), given()]
  applyDefaultsToStored(type, filled)
  await inTurns(inParts(() => applyDefaultsToStored(type, walked)))
  expect(walked).toEqual(filled)
  expect(filled.spec.list).toHaveLength(50_000)
  expect(Object.keys(filled.spec.list[0]!)).not.toEqual([])
  expect(filled.spec.list.at(-1)).toEqual({})
  expect(JSON.stringify(filled).length).toBeLessThan(MAX_ADDED * 1.1)
})

test('a long default is copied in parts and counted once', async () => {
  const value = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, String(at)]))
  const type = typeOf(defaults(2, value))
  const object = { spec: {} }
  let turns = 0
  await inTurns(
    inParts(() => applyStructuralDefaults(type, object)),
    async () => void turns++,
  )
  expect(turns).toBeGreaterThan(20)
  expect(object).toEqual({ spec: { p0: value, p1: value } })
  expect((object.spec as { p0: object }).p0).not.toBe(value)
})

test.each<[string, JsonObject, number, number]>([
  ['no defaults', listOf(object({ a: { type: 'string' } })), 0, 0],
  ['members that come once', defaults(10, 'a'), 50, 0],
  ['members of items', listOf(defaults(10, 'a')), 0, 17],
  ['members of values', object({ map: { type: 'object', additionalProperties: defaults(10, 'a') } }), 0, 17],
  ['members below those of items', listOf(object({ a: defaults(10, 'a') })), 0, 17],
])('%s make an object longer', (_, schema, once, perUnit) => {
  const growth = growthByDefaults(object({ spec: schema }))
  expect([growth.once, Math.round(growth.perUnit)]).toEqual([once, perUnit])
})

test('a walk in parts over a schema finds the same growth', async () => {
  const wide = object({ here: defaults(3_000, 'a'), list: { type: 'array', items: defaults(2_000, 'b') } })
  const deep = object({ map: { type: 'object', additionalProperties: listOf(defaults(10, 'a')) } })
  for (const schema of [wide, deep])
    expect(await inTurns(inParts(() => growthByDefaults(schema), 100))).toEqual(growthByDefaults(schema))
})
