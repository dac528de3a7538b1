/** What a client sends in a CustomResourceDefinition, and storage cannot hold. */
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/api/object.ts'
import { StatusError } from '../../src/api/status.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const NAME = 'things.example.com'
const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }

const definition = (schema: JsonObject, version: JsonObject = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: NAME },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names,
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', ...schema } },
        ...version,
      },
    ],
  },
})

function textClient() {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  return async (method: string, path: string, body: Json, type = 'application/json') => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type }
    return (await answer(server.request(path, { method, headers, body: JSON.stringify(body) }))).text()
  }
}

function client() {
  const ask = textClient()
  return async (...request: Parameters<typeof ask>) =>
    JSON.parse(await ask(...request)) as { metadata: JsonObject; status: JsonObject }
}

test('items that are no schema raise the generation with each write', async () => {
  const ask = client()
  const items = (value: Json) => definition({ properties: { spec: { type: 'object', items: value } } })
  const { metadata } = await ask('POST', PATH, items(true))
  expect(metadata['generation']).toBe(1)
  const generations: Json[] = []
  for (const value of [true, [], null, 5]) {
    const { spec } = items(value)
    const patched = await ask('PATCH', `${PATH}/${NAME}`, { spec }, 'application/merge-patch+json')
    generations.push(patched.metadata['generation']!)
  }
  expect(generations).toEqual([2, 3, 3, 4])
})

test('no conditions are an empty list or null, as the client sent them', async () => {
  const ask = client()
  await ask('POST', PATH, definition({}))
  const shown: (Json | undefined)[] = []
  for (const conditions of [[], null]) {
    const path = `${PATH}/${NAME}/status`
    const { status } = await ask('PATCH', path, { status: { conditions } }, 'application/merge-patch+json')
    shown.push(status['conditions'])
  }
  expect(shown).toEqual([[], null])
})

test('default, example and enum have sorted members', async () => {
  const value = { z: [{ b: 1, a: 2 }], '9': 1, '10': 1 }
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const spec = { ...open, default: value, example: value, enum: [value] }
  const text = await textClient()('POST', PATH, definition({ properties: { spec } }))
  const sorted = '{"10":1,"9":1,"z":[{"a":2,"b":1}]}'
  for (const member of [`"default":${sorted}`, `"example":${sorted}`, `"enum":[${sorted}]`])
    expect(text).toContain(member)
})

describe('with the status subresource, the root may not have', () => {
  test.each<[string, JsonObject]>([
    ['an empty list', { allOf: [] }],
    ['an empty text where none is another', { 'x-kubernetes-list-type': '' }],
    ['a default of false', { default: false }],
  ])('%s', async (_, schema) => {
    const sent = definition(schema, { subresources: { status: {} } })
    const refused: unknown = await client()('POST', PATH, sent).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(StatusError)
    expect((refused as StatusError).message).toMatch('fields are allowed at the root of the schema')
  })
})
