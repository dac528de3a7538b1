import { describe, expect, test } from 'vitest'
import { authenticate } from '../../src/authentication/authenticate.ts'
import { tokenIssuer } from '../../src/authentication/service-account-key.ts'
import { TokenRefused } from '../../src/authentication/token-answer.ts'
import { authenticateToken } from '../../src/authentication/token-authenticator.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrators-secret-of-this-test'
const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })

const userOf = async (headers: Record<string, string>, cf?: unknown) => {
  const request = server.request('/healthz', { headers, cf })
  const { user } = await authenticate(request)
  return { user: user.name, groups: user.groups, warnings: request.warnings }
}

const anonymous = { user: 'system:anonymous', groups: ['system:unauthenticated'], warnings: [] }

test.each([
  ['no credentials', {}],
  ['another scheme', { Authorization: 'Basic dTpw' }],
  ['an empty header', { Authorization: '' }],
  ['an empty token', { Authorization: 'Bearer ' }],
])('%s: anonymous', async (_, headers) => {
  expect(await userOf(headers)).toEqual(anonymous)
})

test('two blanks before the token: ignored, with a warning', async () => {
  const warnings = ['the provided Authorization header contains extra space before the bearer token, and is ignored']
  expect(await userOf({ Authorization: `Bearer  ${TOKEN}` })).toEqual({ ...anonymous, warnings })
})

test.each(['garbage', '..', 'a.b', 'abcdef.0123456789abcdef', `${TOKEN}2`])('token %s: 401', async (token) => {
  await expect(userOf({ Authorization: `Bearer ${token}` })).rejects.toMatchObject({ code: 401 })
})

test('the administrator', async () => {
  expect(await userOf({ Authorization: `bearer ${TOKEN}` })).toMatchObject({
    user: 'kubernetes-admin',
    groups: ['system:masters', 'system:authenticated'],
  })
})

test('the result for a token and its audiences is not used for another', async () => {
  const issuer = tokenIssuer(server.env)
  await expect(authenticateToken(server, TOKEN, ['a', issuer])).resolves.toBeDefined()
  await expect(authenticateToken(server, `${TOKEN} a`, [issuer])).rejects.toBeInstanceOf(TokenRefused)
})

test('a token that is longer than any header is refused before it is read', async () => {
  const long = (length: number) => authenticateToken(server, 'a.b.c'.padEnd(length, 'c'))
  await expect(long(131_072)).rejects.toThrow('invalid bearer token')
  await expect(long(131_073)).rejects.toThrow('the token is longer than 131072 characters')
})

describe('a token among the protocols of a WebSocket', () => {
  const protocol = (token: string) => `base64url.bearer.authorization.k8s.io.${btoa(token).replaceAll('=', '')}`
  const handshake = (protocols: string, headers: Record<string, string> = {}) =>
    server.request('/', { headers: { Upgrade: 'websocket', 'Sec-WebSocket-Protocol': protocols, ...headers } })
  const [good, bad] = [protocol(TOKEN), protocol('garbage')]

  test.each([
    ['the token first', `${good}, v4.channel.k8s.io`, {}, 'v4.channel.k8s.io'],
    ['the token last', `x,${good}`, {}, 'x'],
    ['several others', `${good}, x, y`, {}, 'x, y'],
    ['a bad token elsewhere', `${good}, x`, { Authorization: 'Bearer garbage' }, 'x'],
    ['a good token elsewhere, which is asked first', `${good}, x`, { Authorization: `Bearer ${TOKEN}` }, `${good}, x`],
    ['a bad one, and a good one elsewhere', `${bad}, x`, { Authorization: `Bearer ${TOKEN}` }, `${bad}, x`],
  ])('%s', async (_, protocols, headers, left) => {
    const { user, headers: passedOn } = await authenticate(handshake(protocols, headers))
    expect(user.name).toBe('kubernetes-admin')
    expect(passedOn.get('Sec-WebSocket-Protocol')).toBe(left)
    expect(passedOn.get('Upgrade')).toBe('websocket')
  })

  test.each([
    ['nothing besides', good],
    ['two tokens', `${good}, ${good}, x`],
    ['a bad one', `${bad}, x`],
    ['padding', `${good}==, x`],
    ['what is no base64', 'base64url.bearer.authorization.k8s.io.a, x'],
  ])('%s: 401', async (_, protocols) => {
    await expect(authenticate(handshake(protocols))).rejects.toMatchObject({ code: 401 })
  })

  test('an empty one is none', async () => {
    const { user } = await authenticate(handshake(`${protocol('')}, x`))
    expect(user.name).toBe('system:anonymous')
  })
})

test('the server ignores X-Remote-User without a front proxy', async () => {
  expect(await userOf({ 'X-Remote-User': 'alice' })).toEqual(anonymous)
})
