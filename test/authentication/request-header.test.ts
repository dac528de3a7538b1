import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { authenticate } from '../../src/authentication/authenticate.ts'
import { isIssuedBy } from '../../src/authentication/certificate-issuer.ts'
import { createAuthority, issue } from '../../src/cli/certificate.ts'
import { memoryServer } from '../request-in-memory.ts'

const now = new Date()
const proxies = createAuthority({ commonName: 'front-proxy-ca' }, now, 10)
const others = createAuthority({ commonName: 'other' }, now, 10)
const client = (authority: typeof proxies, issuer: string, commonName: string) => {
  const { certificate } = issue(
    authority,
    { commonName: issuer },
    { subject: { commonName }, usage: 'client', days: 5 },
    now,
  )
  return new X509Certificate(certificate).raw.toString('base64')
}
const good = client(proxies, 'front-proxy-ca', 'front-proxy-client')
const foreign = client(others, 'front-proxy-ca', 'front-proxy-client')

test('signed by the authority, and holding now', async () => {
  const later = new Date(now.getTime() + 6 * 86_400_000)
  expect(await isIssuedBy(good, proxies.certificate, now)).toBe(true)
  expect(await isIssuedBy(foreign, proxies.certificate, now)).toBe(false)
  expect(await isIssuedBy(good, proxies.certificate, later)).toBe(false)
  expect(await isIssuedBy('AAAA', proxies.certificate, now)).toBe(false)
})

const server = memoryServer({ KEDGE_REQUESTHEADER_CA: proxies.certificate })
const ask = (certRaw: string, commonName: string, headers: [string, string][]) =>
  authenticate(
    server.request('/', {
      headers,
      cf: { tlsClientAuth: { certPresented: '1', certVerified: 'FAILED:issuer', certRaw, commonName } },
    }),
  )

test('a front proxy says for whom it asks', async () => {
  const { user } = await ask(good, 'front-proxy-client', [
    ['X-Remote-User', 'alice'],
    ['X-Remote-Group', 'a'],
    ['X-Remote-Group', 'b'],
    ['X-Remote-Extra-Scopes', 'x'],
  ])
  expect(user).toEqual({
    name: 'alice',
    uid: '',
    groups: ['a', 'b', 'system:authenticated'],
    extra: { scopes: ['x'] },
  })
})

test.each<[string, string, string, [string, string][]]>([
  ['without a user', good, 'front-proxy-client', []],
  ['of another authority', foreign, 'front-proxy-client', [['X-Remote-User', 'alice']]],
  ['of another name', good, 'somebody', [['X-Remote-User', 'alice']]],
])('%s: 401', async (_, certRaw, commonName, headers) => {
  await expect(ask(certRaw, commonName, headers)).rejects.toMatchObject({ code: 401 })
})
