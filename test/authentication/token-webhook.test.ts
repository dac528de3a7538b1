/** Tokens that a webhook authenticates: the users and audiences that it answers, and its failures. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { eventually } from '../eventually.ts'
import { TokenRefused } from '../../src/authentication/token-answer.ts'
import { authenticateToken } from '../../src/authentication/token-authenticator.ts'
import { configurationProblem } from '../../src/authorization/configuration-problem.ts'
import { memoryServer } from '../request-in-memory.ts'
import type { Called } from '../webhooks/front.ts'
import { frontAnswering } from '../webhooks/front.ts'

let logged: string[]
beforeEach(() => {
  logged = []
  vi.spyOn(console, 'error').mockImplementation((line: string) => logged.push(line))
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const ISSUER = 'https://kubernetes.default.svc.cluster.local'

function world(answer: (called: Called) => object | Promise<object>, setting: object = {}) {
  const { binding, calls } = frontAnswering(answer)
  const server = memoryServer({
    OUTGOING: binding,
    KEDGE_AUTHENTICATION_TOKEN_WEBHOOK: JSON.stringify({
      connection: {
        url: 'https://tokens.example/review',
        certificateAuthority: 'PEM',
        clientCertificate: 'C',
        clientKey: 'K',
      },
      version: 'v1',
      ...setting,
    }),
  })
  const ask = (token: string, audiences?: readonly string[]) =>
    authenticateToken(server.request('/version'), token, audiences)
  return { server, calls, ask }
}

/** A review has a status, which is not that of the answer. */
const answered = (review: object) => ({ status: 200, text: JSON.stringify(review) })

const says =
  (status: object) =>
  ({ review }: Called): object =>
    answered({ ...review, status })
const anna = { username: 'anna', uid: '7', groups: ['dev'], extra: { a: ['b'] } }

test.each(['v1', 'v1beta1'])('%s', async (version) => {
  const { calls, ask } = world(says({ authenticated: true, user: anna }), { version })
  expect(await ask('t')).toEqual({
    user: { name: 'anna', uid: '7', groups: ['dev', 'system:authenticated'], extra: { a: ['b'] } },
    audiences: [ISSUER],
  })
  expect(calls[0]).toEqual({
    call: {
      url: 'https://tokens.example/review?timeout=30s',
      headers: expect.any(Object),
      timeoutMs: 30_000,
      caBundle: 'PEM',
      clientCertificate: { certificate: 'C', key: 'K' },
    },
    review: {
      kind: 'TokenReview',
      apiVersion: `authentication.k8s.io/${version}`,
      metadata: {},
      spec: { token: 't', audiences: [ISSUER] },
      status: { user: {} },
    },
  })
})

describe('audiences', () => {
  test.each<[string, readonly string[] | undefined, readonly string[] | undefined, readonly string[] | undefined]>([
    ['none: those of this server', undefined, undefined, [ISSUER]],
    ['none, but another is wanted', undefined, ['vault'], undefined],
    ['some of those that are wanted', ['vault', 'x'], ['vault', 'y'], ['vault']],
    ['others', ['x'], undefined, undefined],
  ])('%s', async (_, given, wanted, expected) => {
    const { ask } = world(says({ authenticated: true, user: anna, ...(given && { audiences: given }) }))
    const answer = await ask('t', wanted).catch((error: unknown) => error)
    if (expected === undefined) expect(answer).toBeInstanceOf(TokenRefused)
    else expect(answer).toMatchObject({ audiences: expected })
  })
})

describe('refused', () => {
  test.each<[string, (called: Called) => object, string]>([
    ['a no', says({ authenticated: false }), 'invalid bearer token'],
    ['a no with a reason', says({ authenticated: false, error: 'stale' }), '[invalid bearer token, stale]'],
    ['a user without a name', says({ authenticated: true, user: {} }), 'gave a user without a name'],
    ['text that is no JSON', () => ({ status: 200, text: '{' }), 'json parse error'],
    ['an answer of another kind', () => ({ status: 200, text: '{"kind":"Pod","apiVersion":"v1"}' }), 'Pod'],
    ['403', () => ({ status: 403, type: 'text/plain', text: 'go away' }), 'go away'],
  ])('%s', async (_, answer, why) => {
    await expect(world(answer).ask('t')).rejects.toThrow(why)
  })
})

test('a yes is taken for two minutes, a no is asked again', async () => {
  let known = false
  const { server, calls, ask } = world(({ review }) =>
    answered({ ...review, status: known ? { authenticated: true, user: anna } : {} }),
  )
  const later = (seconds: number) => (server.now = new Date(server.now.getTime() + seconds * 1000))
  await expect(ask('t')).rejects.toThrow('invalid bearer token')
  known = true
  later(2)
  await ask('t')
  expect(calls).toHaveLength(2)
  later(119)
  await ask('t')
  expect(calls).toHaveLength(2)
  later(12)
  await ask('t')
  expect(calls).toHaveLength(3)
})

test('one that hangs leaves room for other tokens', async () => {
  let release!: () => void
  const hangs = new Promise<void>((resolve) => (release = resolve))
  const { ask, calls, server } = world(async ({ review }) => {
    await hangs
    return answered({ ...review, status: {} })
  })
  const codes: unknown[] = []
  const all = Array.from({ length: 80 }, (_, at) =>
    ask(`t${at}`).catch(({ code }: { code?: number }) => codes.push(code)),
  )
  await eventually(() => expect(codes).toEqual(Array.from({ length: 20 }, () => 429)))
  // its own tokens are not asked about there
  await expect(authenticateToken(server.request('/version'), 'abcdef.0123456789abcdef')).rejects.toMatchObject({
    code: 429,
  })
  // those of another control plane are: they wait for the server, and not for a place
  const elsewhere = { ...server.request('/version'), tenant: { uid: 'elsewhere' } }
  const asked = authenticateToken(elsewhere, 't').catch((error: unknown) => error)
  await eventually(() => expect(calls).toHaveLength(61))
  release()
  expect(await asked).toBeInstanceOf(TokenRefused)
  await Promise.all(all)
  expect(codes).toHaveLength(80)
})

test('a connection that is none: nothing is served', async () => {
  const { server } = world(says({}), { connection: { url: 'http://tokens.example', proxy: 'x' } })
  expect((await configurationProblem(server.env))?.details).toMatch(
    /KEDGE_AUTHENTICATION_TOKEN_WEBHOOK: .*must be https/,
  )
})
