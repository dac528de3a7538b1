/** The label and the audit annotations of tokens in Secrets, as kube-apiserver 1.36.3 writes them. */
import { exportJWK, generateKeyPair } from 'jose'
import { beforeAll, expect, test, vi } from 'vitest'
import { authenticate } from '../../src/authentication/authenticate.ts'
import { issueSecretToken } from '../../src/authentication/service-account.ts'
import { answer } from '../../src/server.ts'
import { RequestRecord } from '../../src/request/record.ts'
import type { MemoryServer } from '../request-in-memory.ts'
import { memoryServer } from '../request-in-memory.ts'

const LABEL = 'kubernetes.io/legacy-token-last-used'
const OF_ROBOT = { 'authentication.k8s.io/legacy-token': 'system:serviceaccount:a:robot' }
const ADMINISTRATOR = 'an-administrator-whose-token-is-long-enough'
const NOW = new Date('2026-05-01T12:00:00Z')
let key: string

beforeAll(async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  key = JSON.stringify({ ...(await exportJWK(privateKey)), alg: 'ES256', kid: 'k1' })
})

async function withToken(labels: Record<string, string> = {}, account: object = {}): Promise<[MemoryServer, string]> {
  const server = memoryServer({ KEDGE_SA_KEY: key, KEDGE_ADMIN_TOKEN: ADMINISTRATOR })
  server.now = NOW
  await server.put('', 'namespaces', { metadata: { name: 'a' } })
  await server.put('', 'serviceaccounts', { metadata: { namespace: 'a', name: 'robot', uid: 'u1' }, ...account })
  const token = await issueSecretToken(server.env, { namespace: 'a', name: 'robot', uid: 'u1' }, 's')
  const annotations = { 'kubernetes.io/service-account.name': 'robot', 'kubernetes.io/service-account.uid': 'u1' }
  await server.put('', 'secrets', {
    metadata: { namespace: 'a', name: 's', uid: 'u3', labels, annotations },
    type: 'kubernetes.io/service-account-token',
    data: { token: btoa(token) },
  })
  return [server, token]
}

/** Sends a request, and waits for the work that goes on after its answer. @returns its audit annotations */
async function use(server: MemoryServer, token: string): Promise<Record<string, string>> {
  const work: Promise<unknown>[] = []
  const record = new RequestRecord()
  const request = server.request('/version', { headers: { Authorization: `Bearer ${token}` } })
  const waitUntil = (one: Promise<unknown>): void => void work.push(one)
  expect((await answer({ ...request, record, waitUntil })).status).toBe(200)
  await Promise.all(work)
  return Object.fromEntries([...record.annotations].filter(([name]) => name.includes('legacy')))
}

async function review(server: MemoryServer, token: string): Promise<object> {
  const work: Promise<unknown>[] = []
  const request = server.request('/apis/authentication.k8s.io/v1/tokenreviews', {
    method: 'POST',
    headers: { Authorization: `Bearer ${ADMINISTRATOR}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }),
  })
  const response = await answer({ ...request, waitUntil: (one) => void work.push(one) })
  await Promise.all(work)
  return (await response.json<{ status: object }>()).status
}

async function secret(server: MemoryServer) {
  const headers = { Authorization: `Bearer ${ADMINISTRATOR}` }
  const response = await answer(server.request('/api/v1/namespaces/a/secrets/s', { headers }))
  const { metadata } = await response.json<{ metadata: { labels: Record<string, string>; resourceVersion: string } }>()
  return metadata
}

test.each<[what: string, before: Record<string, string>, after: string]>([
  ['has none', {}, '2026-05-01'],
  ['is of yesterday', { [LABEL]: '2026-04-30' }, '2026-05-01'],
  ['is no day', { [LABEL]: 'x' }, '2026-05-01'],
  ['is of today', { [LABEL]: '2026-05-01' }, '2026-05-01'],
  ['is of tomorrow', { [LABEL]: '2026-05-02' }, '2026-05-02'],
])('a Secret whose label %s', async (_what, before, after) => {
  const [server, token] = await withToken({ ...before, kept: 'yes' })
  const { resourceVersion } = await secret(server)
  expect(await use(server, token)).toEqual({ ...OF_ROBOT, 'authentication.k8s.io/legacy-token-manual-secret': 's' })
  const now = await secret(server)
  expect(now.labels).toEqual({ [LABEL]: after, kept: 'yes' })
  expect(now.resourceVersion === resourceVersion).toBe(before[LABEL] === after)
})

test('a review of a token is a use of it', async () => {
  const [server, token] = await withToken()
  expect(await review(server, token)).toMatchObject({ authenticated: true })
  expect((await secret(server)).labels).toEqual({ [LABEL]: '2026-05-01' })
})

test.each<[what: string, send: (server: MemoryServer, token: string) => Promise<void>]>([
  [
    'request',
    async (server, token) => {
      const work: Promise<unknown>[] = []
      const request = server.request('/version', { headers: { Authorization: `Bearer ${token}` } })
      const waitUntil = (one: Promise<unknown>): void => void work.push(one)
      await expect(answer({ ...request, waitUntil })).rejects.toMatchObject({ code: 401 })
      await Promise.all(work)
    },
  ],
  [
    'review',
    async (server, token) => {
      expect(await review(server, token)).toEqual({
        error: expect.stringContaining('has been marked invalid'),
        user: {},
      })
    },
  ],
])('a %s that shows a token which is marked invalid is a use of it', async (_what, send) => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const invalid = { 'kubernetes.io/legacy-token-invalid-since': '2026-04-01' }
  const [server, token] = await withToken(invalid)
  await send(server, token)
  const { labels, resourceVersion } = await secret(server)
  expect(labels).toEqual({ ...invalid, [LABEL]: '2026-05-01' })
  await send(server, token)
  expect((await secret(server)).resourceVersion).toBe(resourceVersion)
  error.mockRestore()
})

test('of the requests that come with a token at once, one writes', async () => {
  const [server, token] = await withToken()
  const headers = { Authorization: `Bearer ${token}` }
  const found = () => authenticate(server.request('/version', { headers }))
  const requests = [...(await Promise.all([found(), found()])), await found()]
  expect(requests.map(({ usedSecrets: [one] }) => one?.take())).toEqual([true, false, false])
})

test('a token that a controller made is annotated as such', async () => {
  const [server, token] = await withToken({}, { secrets: [{ name: 's' }] })
  const annotations = { ...OF_ROBOT, 'authentication.k8s.io/legacy-token-autogenerated-secret': 's' }
  expect(await use(server, token)).toEqual(annotations)
  expect(await use(server, token), 'from the cache').toEqual(annotations)
})

test('a label that cannot be written fails no request', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const [server, token] = await withToken({ 'not a label': '' })
  await use(server, token)
  expect(error.mock.calls.join()).toContain('Failed to label legacy service account token with last-used date')
  expect((await secret(server)).labels[LABEL]).toBeUndefined()
  error.mockRestore()
})
