/** Converts OpenAPI v2 to v3. `v3-of-v2.json` has the results of kube-openapi (of kube-apiserver 1.36.3). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/api/object.ts'
import { writingPlainJson } from '../../src/json/write-json.ts'
import { PART } from '../../src/base/parts.ts'
import { atOnce } from '../../src/base/slices.ts'
import type { Steps } from '../../src/base/slices.ts'
import { TooLarge, v3OfV2 } from '../../src/openapi/v3-of-v2.ts'

const PLENTY = 1 << 20
const converted = (v2: JsonObject, most: number): JsonObject => atOnce(v3OfV2(v2, most))
const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'v3-of-v2.json'), 'utf8')) as {
  v2: JsonObject
  v3: JsonObject
}

test('a document is what kube-openapi makes of it', () => {
  expect(converted(recorded.v2, PLENTY)).toEqual(recorded.v3)
})

describe('what is no document of v2 is one of v3 with little in it:', () => {
  test.each<[string, JsonObject]>([
    ['nothing', {}],
    ['paths that are none', { paths: [1] }],
    ['operations that are none', { paths: { '/a': { get: 1, post: null, parameters: 'x' } } }],
    ['responses that are none', { paths: { '/a': { get: { responses: { 200: 1, x: {}, default: null } } } } }],
    ['parameters that are none', { paths: { '/a': { get: { parameters: [1, null, {}, { $ref: 1 }] } } } }],
    ['definitions that are none', { definitions: { a: 1, b: null, c: { properties: 1, items: 2, $ref: 3 } } }],
    ['security that is none', { securityDefinitions: { a: 1, b: { flow: 2 } } }],
  ])('%s', (_, v2) => {
    expect(converted(v2, PLENTY)).toMatchObject({ openapi: '3.0.0' })
  })
})

test('names of JavaScript’s own are names', () => {
  const named = JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"object"}}') as JsonObject
  const made = converted({ definitions: { ...named, x: { properties: named } } }, PLENTY) as {
    components: { schemas: { x: { properties: JsonObject } } }
  }
  expect(JSON.stringify(made.components.schemas.x.properties)).toBe(JSON.stringify(named))
  expect(JSON.stringify(made.components.schemas)).toContain('"__proto__":{"type":"string"}')
})

// In v2 one schema serves all media types; v3 repeats it for each.
test('a schema of many media types is written only so often', () => {
  const schema: Json = { type: 'string', description: 'x'.repeat(1000) }
  const types = Array.from({ length: 50 }, (_, index) => `application/x-${index}`)
  const body = { consumes: types, parameters: [{ name: 'body', in: 'body', schema }] }
  const answer = { produces: types, responses: { 200: { schema } } }
  for (const operation of [body, answer]) {
    const v2 = { paths: { '/a': { post: operation } } } as JsonObject
    expect(() => converted(v2, 50_000)).toThrow(TooLarge)
    expect(() => converted(v2, 60_000)).not.toThrow()
  }
})

test('others have their turn while a large document is converted and written', () => {
  const properties = Object.fromEntries(Array.from({ length: 3 * PART }, (_, at) => [`p${at}`, { type: 'string' }]))
  const definitions = { one: { properties }, ...properties }
  const turns = { count: 0 }
  const counted = <T>(steps: Steps<T>): T => {
    for (;;) {
      const { done, value } = steps.next(true)
      if (done === true) return value
      turns.count++
    }
  }
  const v3 = counted(v3OfV2({ definitions }, PLENTY))
  expect(turns.count).toBeGreaterThanOrEqual(6)
  turns.count = 0
  expect(counted(writingPlainJson(v3, 3))).toBe(JSON.stringify(v3))
  expect(turns.count).toBeGreaterThanOrEqual(2)
})
