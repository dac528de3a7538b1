/**
 * A clock that is set back. What an isolate keeps for a while was then noted at a time that is yet to come, and counts as
 * old: otherwise a right that was taken back would count until the clock has reached that time again.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { quotasOf } from '../../src/admission/plugins/quota/quotas.ts'
import { compileExpressionsWith } from '../../src/authentication/expression.ts'
import { authenticateToken } from '../../src/authentication/token-authenticator.ts'
import { resourceAttributes } from '../../src/authorization/attributes.ts'
import { verdictOn } from '../../src/authorization/authorize.ts'
import { isRecent } from '../../src/base/clock.ts'
import { compileIdentityExpression } from '../../src/expressions/identity-expressions.ts'
import { revisionHere, answeredHere, notHere } from '../../src/storage/shards/shards-here.ts'
import { WritePause } from '../../src/storage/shards/write-pause.ts'
import { controlSnapshot } from '../../src/tenancy/control-snapshot.ts'
import { recentObjects } from '../../src/tenancy/recent-objects.ts'
import { SharedCall } from '../../src/tenancy/shared-call.ts'
import type { MemoryServer } from '../request-in-memory.ts'
import { memoryServer } from '../request-in-memory.ts'
import type { Called } from '../webhooks/front.ts'
import { frontAnswering } from '../webhooks/front.ts'

compileExpressionsWith(async () => compileIdentityExpression)
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const HOUR = 3_600_000

/** Sets the clock of the platform and of the requests that begin from now on. */
function setBack(server: MemoryServer, milliseconds = HOUR): void {
  vi.setSystemTime(Date.now() - milliseconds)
  server.now = new Date()
}

const anna = { name: 'anna', uid: '7', groups: ['system:authenticated'], extra: {} }
const pods = resourceAttributes(anna, 'list', { apiVersion: 'v1', resource: 'pods', namespace: 'blue' })

/** A review has a status, which is not that of the answer. */
const says =
  (status: object) =>
  ({ review }: Called): object => ({ status: 200, text: JSON.stringify({ ...review, status }) })

test('a time to come is not recent', () => {
  expect([0, 999, 1_000].map((age) => isRecent(5_000, 5_000 + age, 1_000))).toEqual([true, true, false])
  expect(isRecent(5_000, 4_999, 1_000)).toBe(false)
  expect(isRecent(-Infinity, 5_000, 1_000)).toBe(false)
})

test('roles of another isolate are read again', async () => {
  const server = memoryServer()
  const roles = async () =>
    (await controlSnapshot(server.request('/'))).inNamespace(
      { group: 'rbac.authorization.k8s.io', resource: 'roles' },
      'blue',
    ).length
  expect(await roles()).toBe(0)
  await server.put('rbac.authorization.k8s.io', 'roles', { metadata: { name: 'r', namespace: 'blue' } } as never)
  setBack(server)
  expect(await roles()).toBe(1)
})

test('objects that many writes read are read again', async () => {
  const server = memoryServer()
  const found = () => recentObjects(server, { group: '', resource: 'limitranges' }, 'blue')
  expect(await found()).toEqual([])
  await server.put('', 'limitranges', { metadata: { name: 'l', namespace: 'blue' } } as never)
  setBack(server)
  expect(await found()).toHaveLength(1)
})

test('a quota of another isolate counts', async () => {
  const server = memoryServer()
  await server.put('', 'resourcequotas', { metadata: { name: 'other', namespace: 'red' } } as never)
  const found = () => quotasOf(server.request('/'), 'blue')
  expect(await found()).toEqual([])
  await server.put('', 'resourcequotas', { metadata: { name: 'q', namespace: 'blue' } } as never)
  setBack(server)
  expect(await found()).toHaveLength(1)
})

test('a token that a webhook has accepted is asked about again', async () => {
  const { binding, calls } = frontAnswering(says({ authenticated: true, user: { username: 'anna' } }))
  const server = memoryServer({
    OUTGOING: binding,
    KEDGE_AUTHENTICATION_TOKEN_WEBHOOK: JSON.stringify({
      connection: { url: 'https://tokens.example/' },
      version: 'v1',
    }),
  })
  const ask = () => authenticateToken(server.request('/version'), 't')
  await ask()
  await ask()
  expect(calls).toHaveLength(1)
  setBack(server)
  await ask()
  expect(calls).toHaveLength(2)
})

const webhook = {
  type: 'Webhook',
  name: 'a',
  webhook: {
    timeout: '3s',
    subjectAccessReviewVersion: 'v1',
    matchConditionSubjectAccessReviewVersion: 'v1',
    failurePolicy: 'NoOpinion',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/a' },
  },
}
const authorizers = (...all: readonly object[]): string =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers: all })
const KEDGE_WEBHOOK_CONNECTIONS = JSON.stringify({ '/a': { url: 'https://a.example/' } })

test('a decision of an authorization webhook is asked for again', async () => {
  const { binding, calls } = frontAnswering(says({ allowed: true }))
  const settings = { KEDGE_AUTHORIZATION_CONFIG: authorizers(webhook), KEDGE_WEBHOOK_CONNECTIONS }
  const server = memoryServer({ OUTGOING: binding, ...settings })
  const ask = () => verdictOn(server.request('/version'), pods)
  await ask()
  await ask()
  expect(calls).toHaveLength(1)
  setBack(server)
  await ask()
  expect(calls).toHaveLength(2)
})

test('a configuration is read again', async () => {
  const { binding } = frontAnswering(says({ denied: true }))
  const everybody = { type: 'AlwaysAllow', name: 'alwaysallow' }
  let file = authorizers(everybody)
  const server = memoryServer({ OUTGOING: binding, KEDGE_AUTHORIZATION_CONFIG: file, KEDGE_WEBHOOK_CONNECTIONS })
  // the chain uses no more of a service binding
  Object.assign(server.env, { CONFIGURATION: { fetch: async () => new Response(file) } as unknown as Fetcher })
  const verdict = () => verdictOn(server.request('/version'), pods)
  expect(await verdict()).toMatchObject({ allowed: true })
  file = authorizers(webhook, everybody)
  setBack(server)
  expect(await verdict()).toMatchObject({ allowed: false, denied: true })
})

test('a shard that has answered may have moved since', () => {
  const shard = { tenant: 't', shard: 'set-back' }
  answeredHere('t/set-back', { revision: 7 }, 5_000)
  expect([5_000, 4_000].map((now) => revisionHere(shard, now))).toEqual([7, undefined])
  notHere('t/set-back')
})

test('a shard whose disk failed is tried again', () => {
  let now = 10 * HOUR
  const pause = new WritePause(() => now)
  pause.failed('s', 'Full')
  expect(pause.refusal('s')).toBe('Full')
  now -= HOUR
  expect(pause.refusal('s')).toBeUndefined()
  expect(pause.refusal('s')).toBe('Full')
  now += 10_000
  expect(pause.refusal('s')).toBeUndefined()
})

test('a call is under way for no longer than it may take', async () => {
  let now = 10 * HOUR
  const call = new SharedCall<number>(() => now)
  void call.answer(call.next, () => new Promise(() => {}))
  expect(call.underWay(1_000)).toBe(1)
  now -= HOUR
  expect(call.underWay(1_000)).toBeUndefined()
})
