import { SignJWT, exportJWK, generateKeyPair, importJWK } from 'jose'
import type { JWTPayload } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { issueSecretToken, issueToken } from '../../src/authentication/service-account.ts'
import type { ServiceAccountClaims } from '../../src/authentication/service-account.ts'
import { authenticateToken } from '../../src/authentication/token-authenticator.ts'
import type { Env } from '../../src/env.ts'
import { memoryServer } from '../request-in-memory.ts'
import type { MemoryServer } from '../request-in-memory.ts'

const ISSUER = 'https://kubernetes.default.svc.cluster.local'
let key: string

beforeAll(async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  key = JSON.stringify({ ...(await exportJWK(privateKey)), alg: 'ES256', kid: 'k1' })
})

async function withAccount(settings: Partial<Env> = {}): Promise<MemoryServer> {
  const server = memoryServer({ KEDGE_SA_KEY: key, ...settings })
  await server.put('', 'serviceaccounts', { metadata: { namespace: 'a', name: 'robot', uid: 'u1' } })
  await server.put('', 'pods', { metadata: { namespace: 'a', name: 'p', uid: 'u2' } })
  return server
}

const robot: ServiceAccountClaims = { namespace: 'a', serviceaccount: { name: 'robot', uid: 'u1' } }

const issue = (server: MemoryServer, claims = robot, audiences = [ISSUER], expirationSeconds = 3600) =>
  issueToken({ env: server.env, now: server.now, audiences, expirationSeconds, claims })

const later = (server: MemoryServer, seconds: number) => ({
  env: server.env,
  tenant: server.tenant,
  clock: () => server.now.getTime(),
  waitUntil: () => {},
  now: new Date(server.now.getTime() + seconds * 1000),
})

describe('the names of this server in tokens', () => {
  const AUDIENCES = 'api,other'

  test.each([
    [undefined, ISSUER, [ISSUER]],
    [undefined, 'api', undefined],
    [AUDIENCES, 'api', ['api']],
    [AUDIENCES, 'other', ['other']],
    [AUDIENCES, ISSUER, undefined],
  ])('are %s: a token for %s is for %j', async (setting, audience, found) => {
    const server = await withAccount(setting === undefined ? {} : { KEDGE_API_AUDIENCES: setting })
    const token = await issue(server, robot, [audience])
    const answer = await authenticateToken(later(server, 0), token).catch(() => undefined)
    expect(answer?.audiences).toEqual(found)
  })
})

test('whom a token stands for', async () => {
  const server = await withAccount()
  const claims = { ...robot, pod: { name: 'p', uid: 'u2' }, node: { name: 'n', uid: '' } }
  const { user, audiences } = await authenticateToken(later(server, 0), await issue(server, claims))
  expect(audiences).toEqual([ISSUER])
  expect(user).toMatchObject({
    name: 'system:serviceaccount:a:robot',
    uid: 'u1',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
    extra: {
      'authentication.kubernetes.io/pod-name': ['p'],
      'authentication.kubernetes.io/pod-uid': ['u2'],
      'authentication.kubernetes.io/node-name': ['n'],
    },
  })
})

test.each<[string, ServiceAccountClaims, string[], number, string]>([
  [
    'another account of the name',
    { ...robot, serviceaccount: { name: 'robot', uid: 'old' } },
    [ISSUER],
    0,
    '[invalid bearer token, service account UID (u1) does not match claim (old)]',
  ],
  [
    'a missing account',
    { ...robot, serviceaccount: { name: 'gone', uid: 'x' } },
    [ISSUER],
    0,
    '[invalid bearer token, serviceaccounts "gone" not found]',
  ],
  [
    'a missing pod',
    { ...robot, pod: { name: 'gone', uid: 'x' } },
    [ISSUER],
    0,
    '[invalid bearer token, service account token has been invalidated]',
  ],
  [
    'another audience',
    robot,
    ['vault'],
    0,
    `[invalid bearer token, token audiences ["vault"] is invalid for the target audiences ["${ISSUER}"]]`,
  ],
  ['a token of yesterday', robot, [ISSUER], 86_400, '[invalid bearer token, service account token has expired]'],
])('%s is refused', async (_, claims, audiences, seconds, message) => {
  const server = await withAccount()
  const token = await issue(server, claims, audiences)
  await expect(authenticateToken(later(server, seconds), token)).rejects.toThrow(message)
})

test('clocks may differ by a minute', async () => {
  const server = await withAccount()
  const token = await issue(server)
  await expect(authenticateToken(later(server, 3650), token)).resolves.toBeDefined()
})

test('a token that should have been renewed is annotated', async () => {
  const server = await withAccount()
  const warnafter = Math.floor(server.now.getTime() / 1000) + 60
  const token = await issue(server, { ...robot, warnafter })
  const at = async (seconds: number) => (await authenticateToken(later(server, seconds), token)).annotations
  expect(await at(59)).toBeUndefined()
  expect(await at(100)).toEqual({
    'authentication.k8s.io/stale-token': 'subject: system:serviceaccount:a:robot, seconds after warning threshold: 40',
  })
})

test('a token of a foreign key', async () => {
  const [server, other] = [await withAccount(), memoryServer({ KEDGE_SA_KEY: key.replace('"kid":"k1"', '"kid":"k2"') })]
  await expect(authenticateToken(later(server, 0), await issue(other))).rejects.toThrow(
    '[invalid bearer token, invalid signature, no keys found]',
  )
})

/** A token of the server's own key with any claims. */
async function signed(server: MemoryServer, claims: object): Promise<string> {
  const all = { iss: ISSUER, aud: [ISSUER], sub: 'system:serviceaccount:a:robot', 'kubernetes.io': robot, ...claims }
  return new SignJWT(all as JWTPayload) // the types would have the claims right
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .sign(await importJWK(JSON.parse(server.env.KEDGE_SA_KEY!), 'ES256'))
}

test.each([
  { exp: '1' },
  { exp: 'never' },
  { exp: {} },
  { nbf: '9999999999' },
  { iat: true },
  { aud: [1] },
  { sub: 1 },
])('a good signature under %j is refused', async (claims) => {
  const server = await withAccount()
  await expect(authenticateToken(later(server, 0), await signed(server, {}))).resolves.toBeDefined()
  await expect(authenticateToken(later(server, 0), await signed(server, claims))).rejects.toThrow(/^\[invalid bearer/)
})

test.each(['=', '==', '%3D%3D', '.', '+', '!'])('a good token with %s behind it is refused', async (more) => {
  const server = await withAccount()
  const token = await issue(server)
  await expect(authenticateToken(later(server, 0), token + more)).rejects.toThrow('invalid bearer token')
  await expect(authenticateToken(later(server, 0), token)).resolves.toBeDefined()
})

/** A server with the Secret of an account's token, and the token. */
async function withSecret(
  change: { account?: object; metadata?: object; token?: string } = {},
): Promise<[MemoryServer, string]> {
  const server = memoryServer({ KEDGE_SA_KEY: key })
  const account = { metadata: { namespace: 'a', name: 'robot', uid: 'u1' }, ...change.account }
  await server.put('', 'serviceaccounts', account)
  const token = await issueSecretToken(server.env, { namespace: 'a', name: 'robot', uid: 'u1' }, 's')
  const metadata = { namespace: 'a', name: 's', uid: 'u3', ...change.metadata }
  await server.put('', 'secrets', { metadata, data: { token: btoa(change.token ?? token) } })
  return [server, token]
}

test('the token in a Secret', async () => {
  const [server, token] = await withSecret()
  const { user, warnings } = await authenticateToken(later(server, 0), token)
  expect(user).toMatchObject({ name: 'system:serviceaccount:a:robot', uid: 'u1', extra: {} })
  expect(warnings).toBeUndefined()
})

test('the token in a Secret that its account names was made by a controller, and warns', async () => {
  const [server, token] = await withSecret({
    account: { metadata: { namespace: 'a', name: 'robot', uid: 'u1' }, secrets: [{ name: 's' }] },
  })
  expect((await authenticateToken(later(server, 0), token)).warnings).toEqual([
    'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.',
  ])
})

const now = () => new Date().toISOString()

test.each<[string, Parameters<typeof withSecret>[0], string]>([
  [
    'a Secret that is marked invalid',
    { metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } } },
    "the token in secret a/s for service account a/robot has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the 'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow use of this token",
  ],
  ['a Secret with another token', { token: 'x' }, "Token does not match server's copy"],
  ['a Secret of another name', { metadata: { name: 'other' } }, 'Token has been invalidated'],
  ['a Secret that is being deleted', { metadata: { deletionTimestamp: now() } }, 'Token has been invalidated'],
  [
    'an account that is being deleted',
    { account: { metadata: { namespace: 'a', name: 'robot', uid: 'u1', deletionTimestamp: now() } } },
    'ServiceAccount a/robot has been deleted',
  ],
  [
    'another account of the name',
    { account: { metadata: { namespace: 'a', name: 'robot', uid: 'new' } } },
    'ServiceAccount UID (new) does not match claim (u1)',
  ],
])('the token of %s is refused', async (_, change, message) => {
  const [server, token] = await withSecret(change)
  await expect(authenticateToken(later(server, 0), token)).rejects.toThrow(`[invalid bearer token, ${message}]`)
})

const CLAIM = 'kubernetes.io/serviceaccount'

test.each([
  ['sub', 'sub'],
  [`${CLAIM}/namespace`, 'namespace'],
  [`${CLAIM}/secret.name`, 'secretName'],
  [`${CLAIM}/service-account.name`, 'serviceAccountName'],
  [`${CLAIM}/service-account.uid`, 'serviceAccountUID'],
])("a Secret's token without the claim %s is refused", async (claim, word) => {
  const [server] = await withSecret()
  const claims = {
    iss: 'kubernetes/serviceaccount',
    aud: undefined,
    sub: 'system:serviceaccount:a:robot',
    [`${CLAIM}/namespace`]: 'a',
    [`${CLAIM}/secret.name`]: 's',
    [`${CLAIM}/service-account.name`]: 'robot',
    [`${CLAIM}/service-account.uid`]: 'u1',
    [claim]: undefined,
  }
  await expect(authenticateToken(later(server, 0), await signed(server, claims))).rejects.toThrow(
    `[invalid bearer token, ${word} claim is missing]`,
  )
})
