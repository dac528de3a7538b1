/**
 * Clocks that differ: from when until when a credential counts. Each row was observed at kube-apiserver 1.36.3, with a
 * few seconds to spare; the edges are the source's.
 */
import { createSign, generateKeyPairSync } from 'node:crypto'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { authenticate } from '../../src/authentication/authenticate.ts'
import { compileExpressionsWith } from '../../src/authentication/expression.ts'
import { TokenRefused } from '../../src/authentication/token-answer.ts'
import { authenticateToken } from '../../src/authentication/token-authenticator.ts'
import { compileIdentityExpression } from '../../src/expressions/identity-expressions.ts'
import { memoryServer } from '../request-in-memory.ts'
import { authorityBit, client, CN, keyUsage, makeCertificate } from '../x509/make-certificate.ts'
import { frontReaching, Issuer } from './issuers/issuer.ts'

compileExpressionsWith(async () => compileIdentityExpression)
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}))

const ISSUER = 'https://login.example'
const OWN = 'https://kubernetes.default.svc.cluster.local'
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwk = { ...keys.publicKey.export({ format: 'jwk' }), kid: 'k' }

/** Libraries that sign would refuse some of these claims. */
function signed(claims: object): string {
  const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url')
  const text = `${part({ alg: 'RS256', kid: 'k' })}.${part(claims)}`
  return `${text}.${createSign('sha256').update(text).sign(keys.privateKey, 'base64url')}`
}

async function world() {
  const issuer = new Issuer(ISSUER)
  issuer.keys = [jwk]
  const server = memoryServer({
    OUTGOING: frontReaching(issuer),
    KEDGE_SA_KEY: JSON.stringify({ ...keys.privateKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256' }),
    KEDGE_AUTHENTICATION_CONFIG: JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthenticationConfiguration',
      jwt: [
        {
          issuer: { url: ISSUER, audiences: ['kedge'] },
          claimMappings: { username: { claim: 'sub', prefix: 'a:' } },
        },
      ],
    }),
  })
  await server.put('', 'serviceaccounts', { metadata: { namespace: 'a', name: 'robot', uid: 'u1' } })
  return server
}

type Answer = 'good' | 'refused'
const answerTo = (server: Awaited<ReturnType<typeof world>>, token: string): Promise<Answer> =>
  authenticateToken(server.request('/version'), token).then(
    () => 'good' as const,
    (error: unknown) => {
      expect(error).toBeInstanceOf(TokenRefused)
      return 'refused' as const
    },
  )

/** Numbers are seconds from now, functions make of now what they like. */
type Times = Readonly<Record<string, number | null | ((now: number) => unknown)>>
const HUGE = 1e30

describe('tokens', () => {
  test.each<[string, Times, issuer: Answer, serviceAccount: Answer]>([
    ['ended more than a minute ago', { exp: -61 }, 'refused', 'refused'],
    ['ended within the minute', { exp: -60 }, 'refused', 'good'],
    ['ended just now', { exp: -1 }, 'refused', 'good'],
    ['ends now', { exp: 0 }, 'good', 'good'],
    ['ends soon', { exp: 1 }, 'good', 'good'],
    ['begins within the minute', { exp: 300, nbf: 60 }, 'good', 'good'],
    ['begins later', { exp: 300, nbf: 61 }, 'refused', 'refused'],
    ['began', { exp: 300, nbf: -3 }, 'good', 'good'],
    ['ended and begins', { exp: -30, nbf: 30 }, 'refused', 'good'],
    ['made within the minute', { exp: 300, iat: 60 }, 'good', 'good'],
    ['made later', { exp: 300, iat: 61 }, 'good', 'refused'],
    ['made a year ago', { exp: 300, iat: -34_560_000 }, 'good', 'good'],
    ['has no end', {}, 'refused', 'good'],
    ['an end of null', { exp: null }, 'refused', 'good'],
    ['a beginning of null', { exp: 300, nbf: null }, 'good', 'good'],
    ['made at null', { exp: 300, iat: null }, 'refused', 'good'],
    ['an end as a text', { exp: (now) => String(now + 100) }, 'good', 'refused'],
    ['an end as a text with an exponent', { exp: () => '3.8e9' }, 'good', 'refused'],
    ['an end as a text with a space', { exp: (now) => ` ${now + 100}` }, 'refused', 'refused'],
    ['an end as an empty text', { exp: () => '' }, 'refused', 'refused'],
    ['an end in words', { exp: () => 'soon' }, 'refused', 'refused'],
    ['an end that is true', { exp: () => true }, 'refused', 'refused'],
    ['a late beginning as a text', { exp: 300, nbf: (now) => String(now + 100) }, 'refused', 'refused'],
    ['a beginning that is true', { exp: 300, nbf: () => true }, 'refused', 'refused'],
    ['made at a text', { exp: 300, iat: (now) => String(now + 100) }, 'good', 'refused'],
    ['made in words', { exp: 300, iat: () => 'soon' }, 'refused', 'refused'],
    ['made at a list', { exp: 300, iat: () => [1] }, 'refused', 'refused'],
    ['an end with a fraction', { exp: (now) => now + 100.9 }, 'good', 'good'],
    ['an end at zero', { exp: () => 0 }, 'refused', 'refused'],
    ['an end before zero', { exp: () => -1 }, 'refused', 'refused'],
    ['an end in the year 10000', { exp: () => 253_402_300_800 }, 'good', 'good'],
    ['an end beyond all times', { exp: () => HUGE }, 'refused', 'refused'],
    ['an end beyond all times as a text', { exp: () => '99999999999999999999' }, 'refused', 'refused'],
    ['a beginning at zero', { exp: 300, nbf: () => 0 }, 'good', 'good'],
    ['a beginning before zero', { exp: 300, nbf: () => -1 }, 'good', 'good'],
    // there 'good': what is too large is a time long ago, and the other way round on other processors
    ['a beginning beyond all times', { exp: 300, nbf: () => HUGE }, 'refused', 'refused'],
  ])('%s', async (_, times, ofIssuer, ofServiceAccount) => {
    const server = await world()
    server.now = new Date(1_800_000_000_000)
    const now = server.now.getTime() / 1000
    const claims = Object.fromEntries(
      Object.entries(times).map(([name, of]) => [
        name,
        typeof of === 'function' ? of(now) : of === null ? null : now + of,
      ]),
    )
    const account = { namespace: 'a', serviceaccount: { name: 'robot', uid: 'u1' } }
    const own = { iss: OWN, aud: [OWN], sub: 'system:serviceaccount:a:robot', 'kubernetes.io': account }
    expect({
      issuer: await answerTo(server, signed({ iss: ISSUER, aud: 'kedge', sub: 'anna', ...claims })),
      serviceAccount: await answerTo(server, signed({ ...own, ...claims })),
    }).toEqual({ issuer: ofIssuer, serviceAccount: ofServiceAccount })
  })
})

describe('bootstrap tokens', () => {
  const NOW = Date.parse('2026-11-22T21:12:37Z')
  test.each<[string, Answer]>([
    ['2026-11-22T21:12:36Z', 'refused'],
    ['2026-11-22T21:12:37Z', 'refused'],
    ['2026-11-22T21:12:38Z', 'good'],
    ['2026-11-22T21:12:38.058Z', 'good'],
    ['2026-11-22T21:12:38.6Z', 'good'],
    ['2026-11-22T21:12:38,058Z', 'good'],
    ['2026-11-22T21:12:37.5Z', 'good'],
    ['2026-11-22T23:12:45+02:00', 'good'],
    ['2026-11-22T23:12:29+02:00', 'refused'],
    ['2026-11-22t21:12:45z', 'refused'],
    ['2026-11-22T21:12:45', 'refused'],
    ['2026-11-23', 'refused'],
    ['2026-11-22 21:12:45Z', 'refused'],
    ['1795382057', 'refused'],
    ['', 'good'],
    [' ', 'refused'],
    ['never', 'refused'],
    ['2026-11-22T21:12:45Z\n', 'refused'],
    ['10000-01-01T00:00:00Z', 'refused'],
    ['2030-12-31T23:59:60Z', 'refused'],
    ['2030-12-31T24:00:00Z', 'refused'],
    ['2030-12-31T1:00:00Z', 'good'],
  ])('until %j: %s', async (expiration, expected) => {
    const server = await world()
    server.now = new Date(NOW)
    const data = {
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': 'true',
      expiration,
    }
    await server.put('', 'secrets', {
      metadata: { namespace: 'kube-system', name: 'bootstrap-token-abcdef' },
      type: 'bootstrap.kubernetes.io/token',
      data: Object.fromEntries(Object.entries(data).map(([name, text]) => [name, btoa(text)])),
    })
    expect(await answerTo(server, 'abcdef.0123456789abcdef')).toBe(expected)
  })
})

describe('client certificates', async () => {
  const now = new Date(1_800_000_000_000)
  const at = (seconds: number): Date => new Date(now.getTime() + seconds * 1000)
  const ca = [authorityBit(), keyUsage(5)]
  const root = await makeCertificate(now, { subject: [[CN, 'kubernetes']], extensions: ca })

  // no clock may be off: who signs them dates them back
  test.each<[number, number, Answer]>([
    [-10, 100, 'good'],
    [0, 100, 'good'],
    [1, 100, 'refused'],
    [60, 100, 'refused'],
    [-10, 1, 'good'],
    [-10, 0, 'good'],
    [-10, -1, 'refused'],
    [-100, -60, 'refused'],
  ])('from %i to %i: %s', async (from, to, expected) => {
    const server = memoryServer({ KEDGE_CA: root.pem })
    server.now = now
    const subject: [string, string][] = [[CN, 'anna']]
    const { item } = await makeCertificate(now, { subject, by: root, extensions: client, from: at(from), to: at(to) })
    const tlsClientAuth = {
      certPresented: '1',
      certVerified: 'SUCCESS',
      certRevoked: '0',
      certRFC9440: item,
      certChainRFC9440: '',
    }
    const answer = await authenticate(server.request('/', { cf: { tlsClientAuth } })).then(
      () => 'good',
      ({ code }: { readonly code: number }) => (code === 401 ? 'refused' : code),
    )
    expect(answer).toBe(expected)
  })
})
