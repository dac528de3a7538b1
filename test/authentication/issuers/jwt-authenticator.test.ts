/** Tokens of OIDC issuers: their users, the reasons of refusals, and the discovery of keys. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { eventually } from '../../eventually.ts'
import type { Env } from '../../../src/env.ts'
import { authenticate } from '../../../src/authentication/authenticate.ts'
import { compileExpressionsWith } from '../../../src/authentication/expression.ts'
import { compileIdentityExpression } from '../../../src/expressions/identity-expressions.ts'
import { TokenRefused } from '../../../src/authentication/token-answer.ts'
import { authenticateToken } from '../../../src/authentication/token-authenticator.ts'
import { memoryServer } from '../../request-in-memory.ts'
import { frontReaching, Issuer, signed, signingKey } from './issuer.ts'
import type { SigningKey } from './issuer.ts'

compileExpressionsWith(async () => compileIdentityExpression)
let logged: string[]
beforeEach(() => {
  logged = []
  vi.spyOn(console, 'error').mockImplementation((line: string) => logged.push(line))
})
afterEach(() => vi.restoreAllMocks())

const URL_A = 'https://a.example'
const URL_B = 'https://b.example'
const [rsa, other, elliptic] = await Promise.all([signingKey('one'), signingKey('two'), signingKey('ec', 'ES256')])

const configuration = (...jwt: readonly object[]) =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', jwt })
const mapping = (more: object = {}) => ({ username: { claim: 'sub', prefix: 'a:' }, ...more })
const authenticator = (url: string, more: object = {}) => ({
  issuer: { url, audiences: ['kedge'] },
  claimMappings: mapping(),
  ...more,
})

function world(...authenticators: readonly object[]) {
  const [a, b] = [new Issuer(URL_A), new Issuer(URL_B)]
  a.keys = [rsa.jwk, elliptic.jwk]
  b.keys = [other.jwk]
  const server = memoryServer({
    OUTGOING: frontReaching(a, b),
    KEDGE_AUTHENTICATION_CONFIG: configuration(
      ...(authenticators.length > 0 ? authenticators : [authenticator(URL_A)]),
    ),
  })
  const seconds = () => Math.floor(server.now.getTime() / 1000)
  const token = (claims: object = {}, key: SigningKey = rsa, header: object = {}) =>
    signed({ key, header, claims: { iss: URL_A, aud: 'kedge', sub: 'anna', exp: seconds() + 60, ...claims } })
  const userOf = async (made: Promise<string> | string) =>
    (await authenticateToken(server.request('/version'), await made)).user
  const refusal = async (made: Promise<string> | string): Promise<string> => {
    const error = await userOf(made).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(TokenRefused)
    return (error as TokenRefused).reasons.join('; ')
  }
  return { a, b, server, seconds, token, userOf, refusal }
}

test('claims by name and prefix', async () => {
  const { token, userOf } = world(
    authenticator(URL_A, {
      claimMappings: mapping({ groups: { claim: 'roles', prefix: 'g:' }, uid: { claim: 'oid' } }),
    }),
  )
  expect(await userOf(token({ roles: ['dev', 'ops'], oid: '7', jti: 'x' }))).toEqual({
    name: 'a:anna',
    uid: '7',
    groups: ['g:dev', 'g:ops', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': ['JTI=x'] },
  })
  expect(await userOf(token({ roles: 'dev', oid: '7' }))).toMatchObject({ groups: ['g:dev', 'system:authenticated'] })
})

test('claims by expression', async () => {
  const { token, userOf } = world(
    authenticator(URL_A, {
      claimMappings: {
        username: { expression: '"x:" + claims.user.name__dot__full' },
        groups: { expression: 'claims.roles.split(",")' },
        uid: { expression: 'string(int(claims.n))' },
        extra: [
          { key: 'example.com/tenant', valueExpression: 'claims.?tenant.orValue("none")' },
          { key: 'example.com/nothing', valueExpression: '""' },
        ],
      },
    }),
  )
  expect(await userOf(token({ user: { 'name.full': 'Anna' }, roles: 'dev,,ops', n: 42 }))).toEqual({
    name: 'x:Anna',
    uid: '42',
    groups: ['dev', 'ops', 'system:authenticated'],
    extra: { 'example.com/tenant': ['none'] },
  })
})

test.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'])(
  '%s',
  async (algorithm) => {
    const { a, token, userOf } = world()
    const key = await signingKey('k', algorithm)
    a.keys = [rsa.jwk, key.jwk]
    expect(await userOf(token({}, key))).toMatchObject({ name: 'a:anna' })
  },
)

/** The library that signs would refuse some of these. */
async function signedText(header: string, claims: string): Promise<string> {
  const text = [header, claims].map((part) => Buffer.from(part).toString('base64url')).join('.')
  const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', rsa.sign, new TextEncoder().encode(text))
  return `${text}.${Buffer.from(signature).toString('base64url')}`
}

const goodClaims = () => JSON.stringify({ iss: URL_A, aud: 'kedge', sub: 'a', exp: Math.ceil(Date.now() / 1000) + 60 })

describe('refused, with a reason for the log', () => {
  const EXPIRED =
    /^oidc: verify token: oidc: token is expired \(Token Expiry: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC\)$/
  const SIGNATURE = 'oidc: verify token: failed to verify signature: failed to verify id token signature'
  type World = ReturnType<typeof world>
  test.each<[string, (world: World) => Promise<string>, string | RegExp]>([
    ['another issuer', ({ token }) => token({ iss: URL_B }), ''],
    ['no issuer', ({ token }) => token({ iss: undefined }), ''],
    [
      'another audience',
      ({ token }) => token({ aud: ['x', 'y'] }),
      'oidc: verify token: oidc: expected audience "kedge" got ["x" "y"]',
    ],
    [
      'no audience',
      ({ token }) => token({ aud: undefined }),
      'oidc: verify token: oidc: expected audience "kedge" got []',
    ],
    ['an end that was', ({ token, seconds }) => token({ exp: seconds() - 1 }), EXPIRED],
    [
      'no end',
      ({ token }) => token({ exp: undefined }),
      'oidc: verify token: oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)',
    ],
    [
      'an end that is no time',
      () =>
        signedText(
          JSON.stringify({ alg: 'RS256', kid: 'one' }),
          JSON.stringify({ iss: URL_A, aud: 'kedge', sub: 'a', exp: 'soon' }),
        ),
      'oidc: verify token: oidc: failed to unmarshal claims: json: invalid number literal, trying to unmarshal "\\"soon\\"" into Number',
    ],
    [
      'a beginning that is far off',
      ({ token, seconds }) => token({ nbf: seconds() + 62 }),
      /^oidc: verify token: oidc: current time .* before the nbf \(not before\) time: /,
    ],
    ['a key of another issuer', ({ token }) => token({}, other), SIGNATURE],
    ['a key of another issuer under a known name', ({ token }) => token({}, other, { kid: 'one' }), SIGNATURE],
    ['a name of a key that is a path', ({ token }) => token({}, rsa, { kid: '../../one' }), SIGNATURE],
    [
      'the public key as a secret',
      async ({ token }) => {
        const [, claims = ''] = (await token()).split('.')
        const text = `${Buffer.from('{"alg":"HS256","kid":"one"}').toString('base64url')}.${claims}`
        const secret = new TextEncoder().encode(JSON.stringify(rsa.jwk))
        const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
        const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text))
        return `${text}.${Buffer.from(signature).toString('base64url')}`
      },
      /^oidc: verify token: oidc: id token signed with unsupported algorithm, expected \["ES256" .*\] got "HS256"$/,
    ],
    [
      'nobody signs',
      async ({ token }) => {
        const [, claims = ''] = (await token()).split('.')
        return `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`
      },
      /unsupported algorithm, expected .* got "none"$/,
    ],
    [
      'another algorithm named than done',
      async ({ token }) => {
        const [, claims = '', signature = ''] = (await token()).split('.')
        return `${Buffer.from('{"alg":"PS256","kid":"one"}').toString('base64url')}.${claims}.${signature}`
      },
      SIGNATURE,
    ],
    [
      'a name that is no text',
      ({ token }) => token({ sub: 7 as unknown as string }),
      'oidc: verify token: oidc: failed to unmarshal claims: json: cannot unmarshal number into Go struct field idToken.sub of type string',
    ],
    [
      'a nonce that is no text',
      ({ token }) => token({ nonce: 7 }),
      'oidc: verify token: oidc: failed to unmarshal claims: json: cannot unmarshal number into Go struct field idToken.nonce of type string',
    ],
    [
      'a claim that is elsewhere, in no source',
      ({ token }) => token({ _claim_names: { x: 'a' } }),
      'oidc: verify token: oidc: source does not exist',
    ],
    [
      'a member of the header twice',
      () => signedText('{"alg":"none","alg":"RS256","kid":"one"}', goodClaims()),
      "oidc: verify token: oidc: malformed jwt: json: duplicate key 'alg' in object",
    ],
    [
      'a payload that is no base64url by its header',
      () => signedText('{"alg":"RS256","kid":"one","b64":false}', goodClaims()),
      'oidc: verify token: oidc: malformed jwt: a payload that is no base64url',
    ],
    ['claims behind a byte order mark', () => signedText('{"alg":"RS256","kid":"one"}', `\ufeff${goodClaims()}`), ''],
    ['no name', ({ token }) => token({ sub: undefined }), 'oidc: parse username claims "sub": claim not present'],
  ])('%s', async (_, make, reason) => {
    const made = world()
    const said = await made.refusal(make(made))
    if (typeof reason === 'string') expect(said).toBe(reason)
    else expect(said).toMatch(reason)
    if (reason !== '') expect(logged.join('\n')).toContain('Unable to authenticate the request')
  })

  const rules = (more: object) => world(authenticator(URL_A, more))
  test.each<[string, object, object, string]>([
    [
      'a required claim that is missing',
      { claimValidationRules: [{ claim: 'hd', requiredValue: 'example.com' }] },
      {},
      'oidc: required claim hd not present in ID token',
    ],
    [
      'a required claim of another value',
      { claimValidationRules: [{ claim: 'hd', requiredValue: 'example.com' }] },
      { hd: 'example.org' },
      'oidc: required claim hd value does not match. Got = example.org, want = example.com',
    ],
    [
      'a rule',
      { claimValidationRules: [{ expression: 'claims.hd == "example.com"', message: 'wrong domain' }] },
      { hd: 'example.org' },
      `oidc: error evaluating claim validation expression: validation expression 'claims.hd == "example.com"' failed: wrong domain`,
    ],
    [
      'a rule about a claim that is missing',
      { claimValidationRules: [{ expression: 'claims.hd == "example.com"' }] },
      {},
      `oidc: error evaluating claim validation expression: expression 'claims.hd == "example.com"' resulted in error: no such key: hd`,
    ],
    [
      'a rule about the user',
      {
        claimMappings: { username: { claim: 'sub', prefix: '' } },
        userValidationRules: [{ expression: "!user.username.startsWith('system:')", message: 'reserved' }],
      },
      { sub: 'system:kube-controller-manager' },
      "oidc: error evaluating user info validation rule: validation expression '!user.username.startsWith('system:')' failed: reserved",
    ],
    [
      'a name that an expression makes of nothing',
      { claimMappings: { username: { expression: 'claims.?nick.orValue("")' } } },
      {},
      'oidc: empty username via CEL expression is not allowed',
    ],
    [
      'a name that is a number',
      { claimMappings: { username: { expression: 'claims.exp' } } },
      {},
      'oidc: error evaluating username claim expression: username claim expression must return a string',
    ],
    [
      'groups that are numbers',
      { claimMappings: mapping({ groups: { expression: '[1]' } }) },
      {},
      'oidc: error evaluating group claim expression: expression must return a string or a list of strings',
    ],
    [
      'an expression without an end',
      {
        claimMappings: mapping({
          groups: { expression: "dyn(claims.l).map(a, dyn(claims.l).map(b, dyn(claims.l).map(c, 'x')))[0][0]" },
        }),
      },
      { l: Array.from({ length: 200 }, () => 0) },
      "oidc: error evaluating group claim expression: expression 'dyn(claims.l).map(a, dyn(claims.l).map(b, dyn(claims.l).map(c, 'x')))[0][0]' resulted in error: operation cancelled: actual cost limit exceeded",
    ],
    [
      'an address that is not verified',
      { claimMappings: { username: { claim: 'email', prefix: '' } } },
      { email: 'anna@example.com', email_verified: false },
      'oidc: email not verified',
    ],
    [
      'groups that are elsewhere',
      { claimMappings: mapping({ groups: { claim: 'groups', prefix: '' } }) },
      { _claim_names: { groups: 'src' }, _claim_sources: { src: { endpoint: 'https://169.254.169.254/' } } },
      'oidc: could not expand distributed claims: this server fetches none',
    ],
    [
      'groups that are elsewhere, and nobody says where',
      { claimMappings: mapping({ groups: { claim: 'groups', prefix: '' } }) },
      { _claim_names: null },
      'oidc: could not expand distributed claims: oidc: no claim sources',
    ],
  ])('%s', async (_, more, claims, reason) => {
    const { token, refusal } = rules(more)
    expect(await refusal(token(claims))).toBe(reason)
  })
})

describe('keys', () => {
  test('are asked for once, whoever waits, and by the issuer’s authority', async () => {
    const pem = '-----BEGIN CERTIFICATE-----'
    const { a, token, userOf } = world()
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, at) => token({ sub: `u${at}` })))
    await Promise.all(tokens.map((one) => userOf(one)))
    expect(a.asked.map(({ url, method }) => [method, url])).toEqual([
      ['GET', `${URL_A}/.well-known/openid-configuration`],
      ['GET', `${URL_A}/keys`],
    ])
    expect(a.asked.every(({ caBundle }) => caBundle === undefined || caBundle.startsWith(pem))).toBe(true)
  })

  test('that are new are found at once, those that went are gone with them', async () => {
    const { a, server, token, userOf, refusal } = world()
    await userOf(token())
    const rotated = await signingKey('three')
    a.keys = [rotated.jwk]
    server.now = new Date(server.now.getTime() + 6_000)
    expect(await userOf(token({}, rotated))).toMatchObject({ name: 'a:anna' })
    expect(a.asked).toHaveLength(3)
    expect(await refusal(token({ sub: 'other' }))).toMatch(/failed to verify id token signature/)
  })

  const codeOf = ({ code }: { readonly code?: number }): number => code ?? 401

  test('that are made up are asked for a few times, then once in five seconds; the rest is to come back', async () => {
    const { a, server, token, userOf } = world()
    await userOf(token())
    const answers = async (name: string): Promise<number[]> => {
      const codes: number[] = []
      for (let at = 0; at < 8; at++)
        await userOf(token({}, other, { kid: `${name}-${at}` })).catch((error) => codes.push(codeOf(error)))
      return codes
    }
    expect(await answers('a')).toEqual([401, 401, 401, 429, 429, 429, 429, 429])
    expect(a.asked).toHaveLength(5)
    // names that an answer lacked a moment ago are no question, and known keys none either
    expect((await answers('a')).slice(0, 4)).toEqual([401, 401, 401, 429])
    expect(await userOf(token({ sub: 'berta' }))).toMatchObject({ name: 'a:berta' })
    expect(a.asked).toHaveLength(5)
    server.now = new Date(server.now.getTime() + 5_000)
    expect(await answers('b')).toEqual([401, 429, 429, 429, 429, 429, 429, 429])
    expect(a.asked).toHaveLength(6)
  })

  test('that rotate again and again without notice: no good token is refused', async () => {
    const { a, token, userOf } = world()
    for (const name of ['k1', 'k2', 'k3']) {
      const key = await signingKey(name)
      a.keys = [key.jwk]
      expect(await userOf(token({ sub: name }, key))).toMatchObject({ name: `a:${name}` })
    }
  })

  test('that rotate while they are asked for: the answer of before is not enough', async () => {
    const { a, token, userOf } = world()
    const rotated = await signingKey('three')
    let release!: () => void
    const slow = new Promise<void>((resolve) => (release = resolve))
    // the issuer reads its keys before the answer arrives
    a.instead = async (path) => {
      const answer = a.answer(path)
      if (path === '/keys') await slow
      return answer
    }
    const first = userOf(token())
    await eventually(() => expect(a.asked).toHaveLength(2))
    a.keys = [rsa.jwk, rotated.jwk]
    const second = userOf(token({ sub: 'berta' }, rotated))
    await token() // lets it wait
    release()
    expect([await first, await second]).toMatchObject([{ name: 'a:anna' }, { name: 'a:berta' }])
  })

  test('stay good while the issuer is away', async () => {
    const { a, server, token, userOf, seconds } = world()
    await userOf(token())
    a.instead = () => new Response('down', { status: 503 })
    server.now = new Date(server.now.getTime() + 3_600_000)
    expect(await userOf(token({ sub: 'later', exp: seconds() + 60 }))).toMatchObject({ name: 'a:later' })
    await eventually(() => expect(logged.join('\n')).toContain('fetching keys of issuer'))
  })

  test.each<[string, (issuer: Issuer) => void, RegExp]>([
    ['answers 500', (a) => (a.instead = () => new Response('no', { status: 500 })), /openid-configuration\\": 500: no/],
    [
      'is another',
      (a) => (a.instead = () => Response.json({ issuer: URL_B, jwks_uri: `${URL_A}/keys` })),
      /issuer did not match/,
    ],
    ['has no keys', (a) => (a.instead = () => Response.json({ issuer: URL_A })), /provider did not return JWKS URL/],
    [
      'keeps its keys in the open',
      (a) => (a.instead = () => Response.json({ issuer: URL_A, jwks_uri: 'http://a.example/keys' })),
      /only https is called/,
    ],
    ['answers HTML', (a) => (a.instead = () => new Response('<html>')), /failed to decode provider discovery object/],
    [
      'has a very long document of keys',
      (a) =>
        (a.instead = (path) =>
          path === '/keys' ? Response.json({ keys: a.keys, more: 'x'.repeat(1 << 20) }) : undefined),
      /the answer is longer than 1048576 bytes/,
    ],
    [
      'has keys that are none',
      (a) => (a.instead = (path) => (path === '/keys' ? Response.json({ keys: [{ kty: 7 }] }) : undefined)),
      /failed to decode keys/,
    ],
  ])('an issuer that %s: refused, and others are not harmed', async (_, spoil, line) => {
    const { a, token, userOf, refusal } = world(authenticator(URL_A), authenticator(URL_B))
    spoil(a)
    expect(await refusal(token())).toBe('oidc: authenticator not initialized')
    expect(logged.join('\n')).toMatch(line)
    expect(await userOf(token({ iss: URL_B }, other))).toMatchObject({ name: 'a:anna' })
  })

  test('of an issuer that hangs: some wait, the rest is to come back, and others go on', async () => {
    const { a, token, userOf } = world(authenticator(URL_A), authenticator(URL_B))
    let release!: () => void
    const hangs = new Promise<void>((resolve) => (release = resolve))
    a.instead = async () => {
      await hangs
      return new Response('', { status: 500 })
    }
    const tokens = await Promise.all(Array.from({ length: 60 }, (_, at) => token({ sub: `u${at}` })))
    const codes: unknown[] = []
    const all = tokens.map((one) => userOf(one).catch(({ code }: { code?: number }) => codes.push(code)))
    await eventually(() => expect(codes).toEqual(Array.from({ length: 28 }, () => 429)))
    expect(await userOf(token({ iss: URL_B }, other))).toMatchObject({ name: 'a:anna' })
    release()
    await Promise.all(all)
    expect(codes).toHaveLength(60)
    expect(a.asked).toHaveLength(1)
  })

  test('that are for encryption, for another algorithm, private or symmetric verify nothing they should not', async () => {
    const { a, token, userOf, refusal, server } = world()
    a.keys = [{ ...rsa.jwk, use: 'enc' }]
    expect(await refusal(token())).toMatch(/failed to verify/)
    server.now = new Date(server.now.getTime() + 5_000)
    a.keys = [
      { kty: 'oct', k: 'AAAA', kid: 'one' },
      { ...rsa.jwk, alg: 'RS512' },
    ]
    expect(await refusal(token({ sub: 'b' }))).toMatch(/failed to verify/)
    server.now = new Date(server.now.getTime() + 5_000)
    a.keys = [{ ...rsa.jwk, kid: undefined }, rsa.jwk] as typeof a.keys
    expect(await userOf(token({ sub: 'c' }))).toMatchObject({ name: 'a:c' })
  })
})

describe('a configuration that changes', () => {
  const changing = () => {
    const made = world()
    let text = made.server.env.KEDGE_AUTHENTICATION_CONFIG!
    let asked = 0
    const fetch = async () => {
      asked++
      return text === '' ? new Response('no such file', { status: 500 }) : new Response(text)
    }
    Object.assign(made.server.env, { CONFIGURATION: { fetch } as unknown as Fetcher })
    const become = (next: string) => {
      text = next
      made.server.now = new Date(made.server.now.getTime() + 1_000)
    }
    return { ...made, become, asked: () => asked }
  }

  test('is in force a second later, and keeps the keys of issuers that stay', async () => {
    const { a, b, become, token, userOf, refusal } = changing()
    await userOf(token())
    expect(await refusal(token({ iss: URL_B }, other))).toBe('')
    become(configuration(authenticator(URL_A), authenticator(URL_B)))
    expect(await userOf(token({ iss: URL_B, sub: 'berta' }, other))).toMatchObject({ name: 'a:berta' })
    expect(await userOf(token({ sub: 'bob' }))).toMatchObject({ name: 'a:bob' })
    expect([a.asked.length, b.asked.length]).toEqual([2, 2])
    become(configuration(authenticator(URL_B)))
    expect(await refusal(token({ sub: 'carl' }))).toBe('')
  })

  test.each([
    ['is gone', '', /failed to read authentication config file/],
    ['is garbage', '{', /failed to load authentication config/],
    ['is wrong', configuration(authenticator('http://a.example')), /URL scheme must be https/],
    [
      'says something else of requests without credentials',
      JSON.stringify({ ...JSON.parse(configuration(authenticator(URL_A))), anonymous: { enabled: false } }),
      /anonymous: Forbidden: changed from initial configuration file/,
    ],
  ])('to one that %s: the one before stays', async (_, text, line) => {
    const { become, token, userOf, asked } = changing()
    await userOf(token())
    become(text)
    expect(await userOf(token({ sub: 'bob' }))).toMatchObject({ name: 'a:bob' })
    expect(logged.join('\n')).toMatch(line)
    expect(asked()).toBe(2)
  })
})

describe('the configurations of the documentation', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/access.md'), 'utf8')
  const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text)
  const issued = blocks.filter((text) => text.includes('kind: AuthenticationConfiguration'))

  test.each([
    [
      'https://login.example.com',
      'kedge',
      { email: 'anna@example.com', email_verified: true, groups: ['dev'] },
      { name: 'anna@example.com', groups: ['example:dev', 'system:authenticated'] },
    ],
    [
      'https://YOUR-TEAM.cloudflareaccess.com/cdn-cgi/access/sso/oidc/CLIENT-ID',
      'CLIENT-ID',
      // as Access writes them
      {
        email: 'anna@example.com',
        sub: '5e5b…',
        groups: ['dev'],
        amr: ['mfa'],
        country: 'DE',
        nonce: 'n',
        oidc_fields: {},
      },
      { name: 'access:anna@example.com', uid: '5e5b…', groups: ['access:dev', 'system:authenticated'] },
    ],
  ])('%s', async (url, audience, claims, user) => {
    const text = issued.find((one) => one.includes(`url: ${url}\n`))!
    const issuer = new Issuer(url)
    issuer.keys = [rsa.jwk]
    const server = memoryServer({ OUTGOING: frontReaching(issuer), KEDGE_AUTHENTICATION_CONFIG: text })
    const exp = Math.floor(server.now.getTime() / 1000) + 60
    const token = await signed({ key: rsa, claims: { iss: url, aud: [audience], exp, ...claims } })
    expect((await authenticateToken(server, token)).user).toMatchObject(user)
  })
})

describe('the application token of Cloudflare Access, by the documentation’s configuration', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/access.md'), 'utf8')
  const TEAM = 'https://YOUR-TEAM.cloudflareaccess.com'
  const text = [...page.matchAll(/```yaml\n(.*?)```/gs)]
    .map(([, one = '']) => one)
    .find((one) => one.includes(`url: ${TEAM}\n`))!
  const [, document = ''] = /`(\{"issuer": [^`]*\})`/.exec(page) ?? []

  function access() {
    const [team, discovery] = [new Issuer(TEAM), new Issuer('https://access-discovery.worker')]
    const found: string[] = []
    // nothing else is published there
    team.instead = (path) => {
      found.push(path)
      return path === '/cdn-cgi/access/certs'
        ? Response.json({
            keys: [{ ...rsa.jwk, alg: 'RS256' }],
            public_cert: { kid: 'one', cert: '' },
            public_certs: [],
          })
        : new Response('', { status: 404 })
    }
    discovery.instead = (path) => (path === '/openid-configuration' ? new Response(document) : undefined)
    const server = memoryServer({ OUTGOING: frontReaching(team, discovery), KEDGE_AUTHENTICATION_CONFIG: text })
    const now = Math.floor(server.now.getTime() / 1000)
    /** As Access writes it. */
    const token = (claims: object) =>
      signed({
        key: rsa,
        header: { typ: 'JWT' },
        claims: {
          aud: ['APPLICATION-AUDIENCE-TAG'],
          iss: TEAM,
          iat: now,
          nbf: now,
          exp: now + 900,
          type: 'app',
          ...claims,
        },
      })
    return { server, token, found }
  }
  const person = {
    email: 'anna@example.com',
    identity_nonce: '6ei69kawdKzMIAPF',
    sub: '7335d417-61da-459d-899c-0a01c76a2f94',
    country: 'DE',
  }

  test.each<[string, object, object | undefined]>([
    ['of a person', person, { name: `access:${person.sub}`, extra: { 'example.com/email': ['anna@example.com'] } }],
    ['of a service token', { common_name: 'ci.access', sub: '' }, { name: 'access:service:ci.access' }],
    ['of another application', { ...person, aud: ['another'] }, undefined],
    ['of another team', { ...person, iss: 'https://other.cloudflareaccess.com' }, undefined],
    ['of the organization and no application', { ...person, type: 'org' }, undefined],
    ['of yesterday', { ...person, exp: 1 }, undefined],
  ])('%s', async (_, claims, user) => {
    const { server, token, found } = access()
    const answer = authenticateToken(server, await token(claims))
    if (user === undefined) return expect(answer).rejects.toThrow(TokenRefused)
    expect((await answer).user).toMatchObject(user)
    expect(found).toEqual(['/cdn-cgi/access/certs'])
  })

  test('in the header that Access adds it is nobody’s', async () => {
    const { server, token } = access()
    const headers = { 'Cf-Access-Jwt-Assertion': await token(person) }
    expect((await authenticate(server.request('/version', { headers }))).user.name).toBe('system:anonymous')
    const bearer = { Authorization: `Bearer ${await token(person)}` }
    expect((await authenticate(server.request('/version', { headers: bearer }))).user.name).toBe(`access:${person.sub}`)
  })
})

describe('requests without credentials', () => {
  const anonymous = (more: object, settings: Partial<Env> = {}) => {
    const text = { ...JSON.parse(configuration()), anonymous: more }
    return memoryServer({ KEDGE_AUTHENTICATION_CONFIG: JSON.stringify(text), ...settings })
  }
  const answer = async (server: ReturnType<typeof memoryServer>, path: string) =>
    authenticate(server.request(path)).then(
      ({ user }) => user.name,
      (error: { code: number }) => error.code,
    )

  test.each<[string, () => ReturnType<typeof memoryServer>, string, string | number]>([
    ['allowed', () => anonymous({ enabled: true }), '/api', 'system:anonymous'],
    ['not allowed', () => anonymous({ enabled: false }), '/livez', 401],
    ['by path', () => anonymous({ enabled: true, conditions: [{ path: '/livez' }] }), '/livez', 'system:anonymous'],
    ['by another path', () => anonymous({ enabled: true, conditions: [{ path: '/livez' }] }), '/livez/ping', 401],
    ['--anonymous-auth=false', () => memoryServer({ KEDGE_ANONYMOUS_AUTH: '0' }), '/livez', 401],
    ['AlwaysAllow', () => memoryServer({ KEDGE_ANONYMOUS_AUTH: 'default-0' }), '/livez', 401],
    [
      'AlwaysAllow with a configuration',
      () => anonymous({ enabled: true }, { KEDGE_ANONYMOUS_AUTH: 'default-0' }),
      '/livez',
      'system:anonymous',
    ],
    ['--anonymous-auth=true', () => memoryServer({ KEDGE_ANONYMOUS_AUTH: '1' }), '/livez', 'system:anonymous'],
  ])('%s', async (_, server, path, expected) => {
    expect(await answer(server(), path)).toBe(expected)
  })
})
