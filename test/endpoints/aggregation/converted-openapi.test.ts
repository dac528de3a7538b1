/** An aggregated server that has OpenAPI v2 alone: this server publishes its document as v3. */
import { beforeEach, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../../src/api/object.ts'
import { respondStatus } from '../../../src/codec/respond.ts'
import { answer } from '../../../src/server.ts'
import type { MemoryServer } from '../../request-in-memory.ts'
import { memoryServer } from '../../request-in-memory.ts'

/** The answers of the aggregated server by path; it answers other paths with 404. */
const remote = vi.hoisted(() => ({ answers: new Map<string, string>(), asked: [] as string[] }))
vi.mock('../../../src/outgoing/api-service.ts', async (original) => ({
  ...(await original<object>()),
  placeOfApiService: () => Promise.resolve({}),
  askApiService: (_plane: unknown, _service: unknown, _place: unknown, { target }: { readonly target: string }) => {
    remote.asked.push(target)
    const text = remote.answers.get(target)
    return Promise.resolve({
      status: text === undefined ? 404 : 200,
      headers: [],
      body: new Blob([text ?? 'not found']).stream(),
    })
  },
}))

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const KEY = 'apis/flavors.example.com/v1'
const v2 = {
  swagger: '2.0',
  info: { title: 'flavors', version: 'v1' },
  paths: {},
  definitions: { Flavor: { properties: { spec: { $ref: '#/definitions/Spec' } } }, Spec: { type: 'object' } },
}

let server: MemoryServer
beforeEach(async () => {
  remote.answers.clear()
  remote.asked.length = 0
  server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  await server.put('apiregistration.k8s.io', 'apiservices', {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.flavors.example.com' },
    spec: { group: 'flavors.example.com', version: 'v1', service: { namespace: 'a', name: 's' } },
    status: { conditions: [{ type: 'Available', status: 'True' }] },
  })
})

async function get(target: string, headers: Record<string, string> = {}): Promise<Response> {
  const request = server.request(target, { headers: { Authorization: `Bearer ${TOKEN}`, ...headers } })
  return answer(request).catch((error: unknown) => respondStatus(request, error))
}

/** The URL of the aggregated group in the index of OpenAPI v3. */
async function indexed(): Promise<string | undefined> {
  const { paths } = (await (await get('/openapi/v3')).json()) as {
    paths: Record<string, { serverRelativeURL: string }>
  }
  return paths[KEY]?.serverRelativeURL
}

test('the index has the group with its hash, and the v2 document is served as v3', async () => {
  remote.answers.set('/openapi/v2', JSON.stringify(v2))
  const url = await indexed()
  expect(url).toMatch(new RegExp(`^/openapi/v3/${KEY}\\?hash=[0-9A-F]{128}$`))
  const response = await get(url ?? '')
  expect(response.status).toBe(200)
  expect(response.headers.get('ETag')).toBe(`"${url?.split('=')[1]}"`)
  expect(response.headers.get('Cache-Control')).toBe('public, immutable')
  expect(await response.json()).toEqual({
    openapi: '3.0.0',
    info: v2.info,
    paths: {},
    components: {
      schemas: {
        Flavor: { properties: { spec: { $ref: '#/components/schemas/Spec' } } },
        Spec: { type: 'object' },
      },
    },
  })
})

test('a document with another hash has another URL', async () => {
  remote.answers.set('/openapi/v2', JSON.stringify(v2))
  const response = await get(`/openapi/v3/${KEY}?hash=0`)
  expect(response.status).toBe(301)
  expect(response.headers.get('Location')).toBe(await indexed())
})

test('a server with v3 is not asked for v2', async () => {
  const url = `/openapi/v3/${KEY}?hash=own`
  remote.answers.set('/openapi/v3', JSON.stringify({ paths: { [KEY]: { serverRelativeURL: url } } }))
  remote.answers.set('/openapi/v2', JSON.stringify(v2))
  expect(await indexed()).toBe(url)
  expect(remote.asked).toEqual(['/openapi/v3'])
})

test.each<[string, string | undefined]>([
  ['neither', undefined],
  ['no JSON', '<html>'],
  ['no object', '[]'],
  ['what is nested too deeply', `${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`],
  ['more than is read', JSON.stringify({ a: 'x'.repeat((6 << 20) + 1) })],
  ['many media types', JSON.stringify(manyTypes())],
])('a server with %s in v2 is not in the index', async (_, text) => {
  if (text !== undefined) remote.answers.set('/openapi/v2', text)
  expect(await indexed()).toBeUndefined()
  expect(remote.asked).toEqual(['/openapi/v3', '/openapi/v2'])
})

/** A v2 document whose v3 form would have four gigabytes, because each media type repeats the schema. */
function manyTypes(): JsonObject {
  const schema = { type: 'string', description: 'x'.repeat(1 << 20) }
  const produces = Array.from({ length: 4096 }, (_, index) => `a/${index}`)
  return { paths: { '/a': { get: { produces, responses: { 200: { schema } } } } } }
}
