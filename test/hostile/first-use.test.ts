// The first request in an isolate that needs a large CustomResourceDefinition does not block other requests for long.
// The tests measure how much its longest step grows for each character of the definition.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import type { Definition } from '../bench/memory-target.ts'
import { countedServer } from './longest-counted-step.ts'
import type { CountedServer } from './longest-counted-step.ts'

const FEW = 12_000
const MANY = 24_000

/** Schemas by what is large in them. */
const shapes: Readonly<Record<string, (properties: number) => JsonObject>> = {
  'properties beside each other': (n) => ({ type: 'object', properties: wide(n, { type: 'string' }) }),
  'objects with a few properties each': (n) => ({
    type: 'object',
    properties: wide(n / 10, { type: 'object', properties: wide(9, { type: 'integer', minimum: 1 }) }),
  }),
  'properties with defaults': (n) => ({ type: 'object', properties: wide(n, { type: 'string', default: 'a' }) }),
  'lists of objects': (n) => ({
    type: 'object',
    properties: wide(n / 4, {
      type: 'array',
      items: { type: 'object', properties: wide(2, { type: 'boolean' }), required: ['p0'] },
    }),
  }),
}

const wide = (n: number, of: JsonObject): JsonObject =>
  Object.fromEntries(Array.from({ length: n }, (_, at) => [`p${at}`, of]))

const kinds = Object.entries(shapes).flatMap(([what, schema], shape) =>
  [FEW, MANY].map((n) => ({ what, n, plural: `w${shape}n${n}s`, schema: schema(n) })),
)

const definitions = kinds.map(({ plural, schema }): Definition => ({
  metadata: { name: `${plural}.${plural}.example.com` },
  spec: {
    group: `${plural}.example.com`,
    scope: 'Namespaced',
    names: { plural, singular: plural.slice(0, -1), kind: plural.toUpperCase(), listKind: `${plural}list` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } },
      },
    ],
  },
}))

let server: CountedServer

beforeAll(async () => {
  server = await countedServer(definitions)
}, 120_000)
afterAll(() => server.restore())

/**
 * Counted work for each character (counted-bundle.ts). Two units of it are loop iterations, which take a nanosecond or
 * two each.
 */
const MOST = 2.5

test.each(Object.keys(shapes))('%s', { timeout: 120_000 }, async (what) => {
  const steps = []
  for (const { plural, schema } of kinds.filter((kind) => kind.what === what)) {
    const path = `/apis/${plural}.example.com/v1/namespaces/default/${plural}`
    const object = { apiVersion: `${plural}.example.com/v1`, kind: plural.toUpperCase(), metadata: { name: 'a' } }
    const body = JSON.stringify({ ...object, spec: {} })
    const step = await server.longestStep({ method: 'POST', path, body })
    expect(step.status, step.text).toBe(201)
    steps.push({ length: JSON.stringify(schema).length, step })
  }
  const [few, many] = steps as [(typeof steps)[0], (typeof steps)[0]] // one for each size
  const each = (many.step.work - few.step.work) / (many.length - few.length)
  expect(each, `for each character, in a step that came by\n${many.step.seen}`).toBeLessThan(MOST)
})
