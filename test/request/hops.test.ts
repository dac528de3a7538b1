// A request that leads back to this server ends after a few rounds.
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { StatusError } from '../../src/api/status.ts'
import type { Env } from '../../src/env.ts'
import { answer } from '../../src/server.ts'
import { FAILED } from '../../src/webhooks/by-front.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const AUTHORIZATION = { Authorization: `Bearer ${TOKEN}` }

interface Called {
  readonly url: string
  readonly headers: readonly (readonly [string, string])[] | Readonly<Record<string, string>>
}

/** A server whose calls to others come back to it, as of the administrator. */
function loop() {
  const rounds: string[] = []
  const fetch = async (_url: string, init: RequestInit): Promise<Response> => {
    const text = init.body instanceof ReadableStream ? await new Response(init.body).text() : String(init.body)
    const [line = '', body = ''] = text.split('\n')
    const { url, headers } = JSON.parse(line) as Called
    const sent = new Headers(Array.isArray(headers) ? headers.map(([name, value]) => [name, value]) : { ...headers })
    rounds.push(sent.get('Kedge-Hops') ?? 'none')
    sent.set('Authorization', AUTHORIZATION.Authorization)
    const method = body === '' ? 'GET' : 'POST'
    await server.ask(new URL(url).pathname, { method, headers: sent, ...(body === '' ? {} : { body }) })
    return Response.json({ code: 'ECONNRESET', message: 'the other side broke off' }, { status: FAILED })
  }
  const env = { KEDGE_ADMIN_TOKEN: TOKEN, EXCHANGES: { fetch }, OUTGOING: { fetch } } as unknown as Partial<Env>
  const memory = memoryServer(env)
  const answers: string[] = []
  const server = {
    put: memory.put,
    rounds,
    answers,
    async ask(path: string, init: Omit<RequestInit, 'cf'>) {
      const told = await answer(memory.request(path, init)).then(
        ({ status }) => String(status),
        (error: unknown) => (error instanceof StatusError ? `${error.code} ${error.message}` : String(error)),
      )
      answers.push(told)
    },
  }
  return server
}

const REFUSED =
  '508 more than 3 servers have passed this request on: an APIService, a webhook or a Service leads back here'

const webhook = (failurePolicy: string) => ({
  metadata: { name: 'back' },
  webhooks: [
    {
      name: 'back.example.com',
      clientConfig: { url: 'https://server/api/v1/namespaces' },
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], scope: '*' }],
      failurePolicy,
      matchPolicy: 'Equivalent',
      sideEffects: 'None',
      timeoutSeconds: 30,
      admissionReviewVersions: ['v1'],
      namespaceSelector: {},
      objectSelector: {},
    },
  ],
})

test('by an APIService', async () => {
  const server = loop()
  const status: JsonObject = { conditions: [{ type: 'Available', status: 'True' }] }
  await server.put('', 'services', {
    metadata: { namespace: 'a', name: 'back' },
    spec: { type: 'ExternalName', externalName: 'server' },
  })
  await server.put('apiregistration.k8s.io', 'apiservices', {
    metadata: { name: 'v1.loop.example.com' },
    spec: { group: 'loop.example.com', version: 'v1', service: { namespace: 'a', name: 'back' } },
    status,
  })
  await server.ask('/apis/loop.example.com/v1/things', { headers: AUTHORIZATION })
  expect(server.rounds).toEqual(['1', '2', '3', '4'])
  expect(server.answers[0]).toBe(REFUSED)
})

test('by a webhook', async () => {
  const server = loop()
  await server.put('admissionregistration.k8s.io', 'validatingwebhookconfigurations', webhook('Fail'))
  const headers = { ...AUTHORIZATION, 'Content-Type': 'application/json' }
  const create = (hops: string) =>
    server.ask('/api/v1/namespaces', {
      method: 'POST',
      headers: { ...headers, 'Kedge-Hops': hops },
      body: '{"metadata":{"name":"a"}}',
    })
  await create('0')
  await create('3')
  expect(server.rounds).toEqual(['1', '4'])
  await create('4')
  expect(server.rounds).toHaveLength(2)
  expect(server.answers.at(-1)).toBe(REFUSED)
})

test.each([
  ['0', 508, 'created'],
  ['1', 508, REFUSED],
  ['1', 500, 'created'],
])('a request with the number %s whose webhook answers %i, and may fail: %s', async (hops, status, expected) => {
  const fetch = async (): Promise<Response> => new Response('', { headers: { 'outgoing-status': String(status) } })
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN, OUTGOING: { fetch } } as unknown as Partial<Env>)
  await server.put('admissionregistration.k8s.io', 'validatingwebhookconfigurations', webhook('Ignore'))
  const headers = { ...AUTHORIZATION, 'Content-Type': 'application/json', 'Kedge-Hops': hops }
  const told = await answer(
    server.request('/api/v1/namespaces', { method: 'POST', headers, body: '{"metadata":{"name":"a"}}' }),
  ).then(
    () => 'created',
    (error: unknown) => (error instanceof StatusError ? `${error.code} ${error.message}` : String(error)),
  )
  expect(told).toBe(expected)
})

test.each(['4', '10', '-1', '1, 0', 'none', ''])('the number %j of servers is too large, or none', async (hops) => {
  const server = loop()
  await server.ask('/version', { headers: { 'Kedge-Hops': hops } })
  expect(server.answers).toEqual([REFUSED])
})
