/** Which parts of an object a write of the main resource, or of the status, leaves as they are. */
import { expect, test } from 'vitest'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const PATH = '/apis/example.com/v1/namespaces/default/things'
const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
const status = {
  type: 'object',
  properties: { a: { type: 'string' } },
  'x-kubernetes-validations': [{ rule: 'has(self.a)' }],
}
const version = {
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object', maxProperties: 4, properties: { status, spec: { type: 'object' } } } },
  subresources: { status: {} },
}

async function client() {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }))
  await server.put('apiextensions.k8s.io', 'customresourcedefinitions', {
    metadata: { name: 'things.example.com', generation: 1 },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version] },
    status: { acceptedNames: names, storedVersions: ['v1'], conditions },
  })
  return async (method: string, path: string, body: object, type = 'application/json') => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type }
    return answer(server.request(path, { method, headers, body: JSON.stringify(body) }))
  }
}

const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } }

test('a status that is dropped from an update is absent for the rules of its schema', async () => {
  const ask = await client()
  const created = (await (await ask('POST', PATH, thing)).json()) as { metadata: object }
  const updated = await ask('PUT', `${PATH}/a`, { ...created, spec: {}, status: { b: 1 } })
  expect(updated.status).toBe(200)
  expect(await updated.json()).not.toHaveProperty('status')
})

test('a patch of the status does not change the kind', async () => {
  const ask = await client()
  await ask('POST', PATH, thing)
  const patch = { kind: 'Other', status: { a: 'x' } }
  const patched = await ask('PATCH', `${PATH}/a/status`, patch, 'application/merge-patch+json')
  expect(await patched.json()).toMatchObject({ kind: 'Thing', metadata: { generation: 1 }, status: { a: 'x' } })
})
