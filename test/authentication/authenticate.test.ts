import { expect, test } from 'vitest'
import { authenticate } from '../../src/authentication/authenticate.ts'
import { memoryServer } from '../request-in-memory.ts'

const server = memoryServer({ KEDGE_ADMIN_TOKEN: 'secret' })

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
  expect(await userOf({ Authorization: 'Bearer  secret' })).toEqual({ ...anonymous, warnings })
})

test.each(['garbage', '..', 'a.b', 'abcdef.0123456789abcdef', 'secret2'])('token %s: 401', async (token) => {
  await expect(userOf({ Authorization: `Bearer ${token}` })).rejects.toMatchObject({ code: 401 })
})

test('the administrator', async () => {
  expect(await userOf({ Authorization: 'bearer secret' })).toMatchObject({
    user: 'kubernetes-admin',
    groups: ['system:masters', 'system:authenticated'],
  })
})

test('a token among the protocols of a WebSocket', async () => {
  const protocol = (token: string) => `base64url.bearer.authorization.k8s.io.${btoa(token).replaceAll('=', '')}`
  const headers = { Upgrade: 'websocket', 'Sec-WebSocket-Protocol': `${protocol('secret')}, v4.channel.k8s.io` }
  expect(await userOf(headers)).toMatchObject({ user: 'kubernetes-admin' })
  await expect(userOf({ ...headers, 'Sec-WebSocket-Protocol': protocol('secret') })).rejects.toMatchObject({
    code: 401,
  })
})

const certificate = {
  certPresented: '1',
  certVerified: 'SUCCESS',
  certSubjectDN: 'O=ops,O=dev,CN=carol',
  certFingerprintSHA256: 'AB12',
}

test('a client certificate comes before a token, with the groups in its order', async () => {
  const { user } = await authenticate(
    server.request('/', { headers: { Authorization: 'Bearer garbage' }, cf: { tlsClientAuth: certificate } }),
  )
  expect(user).toEqual({
    name: 'carol',
    uid: '',
    groups: ['dev', 'ops', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab12'] },
  })
})

test('a certificate of an unknown authority: 401, unless something else is good', async () => {
  const cf = { tlsClientAuth: { ...certificate, certVerified: 'FAILED:self signed certificate' } }
  await expect(userOf({}, cf)).rejects.toMatchObject({ code: 401 })
  expect(await userOf({ Authorization: 'Bearer secret' }, cf)).toMatchObject({ user: 'kubernetes-admin' })
})

test('X-Remote-User from anybody is nothing', async () => {
  expect(await userOf({ 'X-Remote-User': 'alice' })).toEqual(anonymous)
})
