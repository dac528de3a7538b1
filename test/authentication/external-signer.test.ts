/** Tokens of an external signer (KEP 740), which is a bound Worker. */
import { generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Env } from '../../src/env.ts'
import { issueToken } from '../../src/authentication/service-account.ts'
import { authenticateToken } from '../../src/authentication/token-authenticator.ts'
import { tokenLifetime } from '../../src/authentication/token-lifetime.ts'
import { publishedKeys } from '../../src/authentication/published-keys.ts'
import { readSignedHeader } from '../../src/authentication/token-claims.ts'
import { configurationProblem, hasConfigurations } from '../../src/authorization/configuration-problem.ts'
import { memoryServer } from '../request-in-memory.ts'
import { frontReaching, Issuer } from './issuers/issuer.ts'

const base64Url = (text: string): string => Buffer.from(text).toString('base64url')

interface Key {
  readonly keyId: string
  readonly privateKey: KeyObject
  readonly key: string
  readonly excludeFromOidcDiscovery?: boolean
}
function key(keyId: string, excludeFromOidcDiscovery = false): Key {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  return { keyId, privateKey, key: spki, excludeFromOidcDiscovery }
}

const first = key('first')
const second = key('second')
const former = key('former', true)

/** A signer, and a server that has it. */
async function signing(more: Partial<Env> = {}) {
  const calls: string[] = []
  const signer = {
    calls,
    signs: first,
    keys: [first, former] as readonly Key[],
    header: undefined as object | undefined,
    longest: '86400',
    refreshHintSeconds: '600',
    isDown: false,
  }
  const answers: Record<string, (message: any) => object> = {
    Sign({ claims }: { claims: string }) {
      const header = base64Url(JSON.stringify(signer.header ?? { alg: 'ES256', kid: signer.signs.keyId, typ: 'JWT' }))
      const by = { key: signer.signs.privateKey, dsaEncoding: 'ieee-p1363' } as const
      return { header, signature: sign('sha256', Buffer.from(`${header}.${claims}`), by).toString('base64url') }
    },
    FetchKeys: () => ({
      keys: signer.keys.map(({ privateKey: _, ...shown }) => shown),
      dataTimestamp: '2026-01-01T00:00:00Z',
      refreshHintSeconds: signer.refreshHintSeconds,
    }),
    Metadata: () => ({ maxTokenExpirationSeconds: signer.longest }),
  }
  const worker = {
    async fetch(asked: Request | string, init?: RequestInit) {
      const request = new Request(asked, init)
      const method = new URL(request.url).pathname.replace('/v1.ExternalJWTSigner/', '')
      calls.push(method)
      if (signer.isDown) return new Response('down', { status: 503 })
      return Response.json(answers[method]?.(await request.json()) ?? {})
    },
  }
  const server = memoryServer({
    KEDGE_SA_SIGNER: JSON.stringify({ url: 'https://signer.worker' }),
    ...more,
    ...({ WORKER_SIGNER: worker } as object),
  })
  const metadata = { name: 'robot', namespace: 'a', uid: 'u1' }
  await server.put('', 'serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  return { server, signer }
}

const tokenOf = ({ env, now }: ReturnType<typeof memoryServer>): Promise<string> =>
  issueToken({
    env,
    now,
    clock: () => now.getTime(),
    audiences: ['https://kubernetes.default.svc.cluster.local'],
    expirationSeconds: 600,
    claims: { namespace: 'a', serviceaccount: { name: 'robot', uid: 'u1' } },
  })
const nameOf = async (server: ReturnType<typeof memoryServer>, token: string): Promise<string> =>
  (await authenticateToken(server, token)).user.name

test('the signer’s tokens are accepted; keys are fetched once', async () => {
  const { server, signer } = await signing()
  const token = await tokenOf(server)
  expect(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid).toBe('first')
  expect(await nameOf(server, token)).toBe('system:serviceaccount:a:robot')
  expect(signer.calls).toEqual(['Sign', 'FetchKeys'])
})

test('a new key is asked for when a token names it; made-up ones a few times, then once in five seconds', async () => {
  const { server, signer } = await signing()
  await nameOf(server, await tokenOf(server))
  Object.assign(signer, { signs: second, keys: [second, first, former] })
  expect(await nameOf(server, await tokenOf(server))).toBe('system:serviceaccount:a:robot')
  const made = await tokenOf(server)
  const madeUp = async (kid: string): Promise<unknown> => {
    const token = `${base64Url(JSON.stringify({ alg: 'ES256', kid }))}.${made.split('.').slice(1).join('.')}`
    return nameOf(server, token).catch((error) => error.code ?? error.message)
  }
  const REFUSED = '[invalid bearer token, invalid signature, no keys found]'
  expect([await madeUp('a'), await madeUp('b'), await madeUp('c')]).toEqual([REFUSED, REFUSED, 429])
  expect(signer.calls.filter((method) => method === 'FetchKeys')).toHaveLength(4)
  server.now = new Date(server.now.getTime() + 5_000)
  expect([await madeUp('d'), await madeUp('e')]).toEqual([REFUSED, 429])
})

test('its calls are counted under kube-apiserver’s names', async () => {
  const { server, signer } = await signing()
  await nameOf(server, await tokenOf(server))
  signer.isDown = true
  await expect(tokenOf(server)).rejects.toThrow()
  const { serveMetrics } = await import('../../src/endpoints/metrics/metrics.ts')
  const text = await (await serveMetrics(server.request('/metrics'), { slis: false })).text()
  const counted = text.split('\n').filter((line) => /^apiserver_externaljwt_\w+?(total|count|timestamp)\b/.test(line))
  expect(counted).toEqual([
    'apiserver_externaljwt_fetch_keys_data_timestamp 1767225600',
    'apiserver_externaljwt_fetch_keys_request_total{code="OK"} 1',
    `apiserver_externaljwt_fetch_keys_success_timestamp ${server.now.getTime() / 1000}`,
    'apiserver_externaljwt_request_duration_seconds_count{code="OK",method="/v1.ExternalJWTSigner/Sign"} 1',
    'apiserver_externaljwt_request_duration_seconds_count{code="OK",method="/v1.ExternalJWTSigner/FetchKeys"} 1',
    'apiserver_externaljwt_request_duration_seconds_count{code="Unavailable",method="/v1.ExternalJWTSigner/Sign"} 1',
    'apiserver_externaljwt_sign_request_total{code="OK"} 1',
    'apiserver_externaljwt_sign_request_total{code="Unavailable"} 1',
  ])
})

test('keys that are known stay while the signer is away; new tokens there are none', async () => {
  const { server, signer } = await signing()
  const token = await tokenOf(server)
  await nameOf(server, token)
  signer.isDown = true
  server.now = new Date(server.now.getTime() + 11_000)
  expect(await nameOf(server, token)).toBe('system:serviceaccount:a:robot')
  await expect(tokenOf(server)).rejects.toThrow('failed to generate token: Sign: status 503')
})

test('published are the keys that sign; hidden ones check tokens of former days', async () => {
  const { server, signer } = await signing()
  const { keys, seconds } = await publishedKeys(server)
  expect(keys.map(({ publicJwk }) => publicJwk)).toMatchObject([{ kid: 'first', kty: 'EC', alg: 'ES256', use: 'sig' }])
  expect(seconds).toBe(600)
  signer.signs = former
  await expect(tokenOf(server)).rejects.toThrow('(kid: former) is excluded from OIDC discovery docs')
})

describe('how long tokens may live', () => {
  test.each<[string, Partial<Env>, string, object | string]>([
    ['as the signer says', {}, '86400', { longest: 86_400, extendedTo: 86_400 }],
    ['a year at most for kubelets', {}, '99999999', { longest: 99_999_999, extendedTo: 31_536_000 }],
    ['as the setting says', { KEDGE_SA_MAX_TOKEN_SECONDS: '7200' }, '86400', { longest: 7200, extendedTo: 86_400 }],
    ['no longer for kubelets', { KEDGE_SA_EXTEND_TOKENS: '0' }, '86400', { longest: 86_400, extendedTo: undefined }],
    ['the setting allows more', { KEDGE_SA_MAX_TOKEN_SECONDS: '7200' }, '3600', 'cannot be set longer than'],
    ['too short', {}, '599', 'is less than acceptable (min 600s)'],
  ])('%s', async (_, settings, longest, expected) => {
    const { server, signer } = await signing(settings)
    signer.longest = longest
    const found = tokenLifetime(server)
    if (typeof expected === 'string') await expect(found).rejects.toThrow(expected)
    else expect(await found).toEqual(expected)
  })

  test.each<[string, string | undefined, string | undefined]>([
    ['3600', '7200', 'service-account-max-token-expiration cannot be set longer than'],
    ['7200', '7200', undefined],
    ['599', undefined, 'max token life supported by external-jwt-signer (599s) is less than acceptable (min 600s)'],
    // asked again for the first token
    ['nothing', '7200', undefined],
  ])('a local server asks when it starts: %s, and the setting is %s', async (longest, setting, problem) => {
    const signer = new Issuer('https://signer.example')
    signer.instead = (path) =>
      path === '/v1.ExternalJWTSigner/Metadata' && longest !== 'nothing'
        ? Response.json({ maxTokenExpirationSeconds: longest })
        : new Response('down', { status: 503 })
    const { env } = memoryServer({
      OUTGOING: frontReaching(signer),
      KEDGE_SA_SIGNER: JSON.stringify({ url: signer.url }),
      ...(setting !== undefined && { KEDGE_SA_MAX_TOKEN_SECONDS: setting }),
    })
    expect(hasConfigurations(env)).toBe(true)
    const details = (await configurationProblem(env))?.details
    if (problem === undefined) expect(details).toBeUndefined()
    else expect(details).toContain(problem)
  })

  test('without a signer there is no limit but the setting', async () => {
    const server = memoryServer({ KEDGE_SA_MAX_TOKEN_SECONDS: '3600' })
    expect(await tokenLifetime(server)).toEqual({ longest: 3600, extendedTo: 31_536_000 })
    expect(await tokenLifetime(memoryServer())).toEqual({ longest: Infinity, extendedTo: 31_536_000 })
  })
})

test.each<[object | string, string | undefined]>([
  [{ alg: 'ES256', kid: 'k', typ: 'JWT' }, undefined],
  [{ alg: 'ES256', kid: 'k', typ: 'at+jwt' }, 'bad type'],
  [{ alg: 'ES256', typ: 'JWT' }, 'key id missing'],
  [{ alg: 'ES256', kid: 'k'.repeat(1025), typ: 'JWT' }, 'key id longer than 1 kb'],
  [{ alg: 'none', kid: 'k', typ: 'JWT' }, 'bad signing algorithm "none"'],
  [{ alg: 'ES256', kid: 'k', typ: 'JWT', crit: [] }, 'while parsing header JSON: json: unknown field "crit"'],
  ['', 'while unwrapping header: illegal base64 data'],
])('a header %j: %s', (header, problem) => {
  const text = typeof header === 'string' ? header : base64Url(JSON.stringify(header))
  expect(readSignedHeader(text).problem).toBe(problem)
})

test('keys of its own and a signer exclude each other', async () => {
  await expect(
    signing({ KEDGE_SA_KEY: 'x', KEDGE_SA_SIGNER: '{}' }).then(({ server }) => tokenOf(server)),
  ).rejects.toThrow('KEDGE_SA_KEY')
})

describe('issuers', () => {
  const issuers = 'https://new.example,https://old.example'
  test('tokens of the second one are taken, those of the first are made; both are audiences', async () => {
    const old = await signing({ KEDGE_ISSUER: 'https://old.example' })
    const now = await signing({ KEDGE_ISSUER: issuers })
    const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
    const order = { audiences: ['https://old.example'], expirationSeconds: 600 }
    const claims = { namespace: 'a', serviceaccount: { name: 'robot', uid: 'u1' } }
    const made = await issueToken({ ...order, claims, env: old.server.env, now: old.server.now })
    expect(claimsOf(made).iss).toBe('https://old.example')
    expect(await nameOf(now.server, made)).toBe('system:serviceaccount:a:robot')
    const fresh = await issueToken({ ...order, claims, env: now.server.env, now: now.server.now })
    expect(claimsOf(fresh).iss).toBe('https://new.example')
    expect((await authenticateToken(now.server, fresh)).audiences).toEqual(['https://old.example'])
    await expect(nameOf(old.server, fresh)).rejects.toThrow('invalid bearer token')
  })
})
