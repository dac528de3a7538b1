import { expect, test } from 'vitest'
import { authenticate } from '../../src/authentication/authenticate.ts'
import { memoryServer } from '../request-in-memory.ts'
import { authorityBit, client, CN, keyUsage, makeCertificate } from '../x509/make-certificate.ts'
import type { Made } from '../x509/make-certificate.ts'

const now = new Date()
const authority = (name: string): Promise<Made> =>
  makeCertificate(now, { subject: [[CN, name]], extensions: [authorityBit(), keyUsage(5)] })
const leaf = (by: Made, name: string): Promise<Made> =>
  makeCertificate(now, { subject: [[CN, name]], by, extensions: client })
const proxies = await authority('front-proxy-ca')
const clients = await authority('kubernetes')
const good = await leaf(proxies, 'front-proxy-client')

const server = memoryServer({ KEDGE_REQUESTHEADER_CA: proxies.pem, KEDGE_CA: clients.pem })
const alice: [string, string] = ['X-Remote-User', 'alice']
const ask = ({ item }: Made, headers: [string, string][], more: object = {}) =>
  authenticate(
    server.request('/', {
      headers,
      cf: {
        tlsClientAuth: { certPresented: '1', certVerified: 'SUCCESS', certRevoked: '0', certRFC9440: item, ...more },
      },
    }),
  )

test('a front proxy says for whom it asks', async () => {
  const { user } = await ask(good, [
    alice,
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

test('empty groups are none, and all values of one key count', async () => {
  const { user } = await ask(good, [
    alice,
    ['X-Remote-Group', ''],
    ['X-Remote-Group', 'a'],
    ['X-Remote-Extra-Scopes', 'x'],
    ['X-Remote-Extra-S%63opes', 'y'],
  ])
  expect(user.groups).toEqual(['a', 'system:authenticated'])
  expect(user.extra['scopes']?.toSorted()).toEqual(['x', 'y'])
})

test('system:anonymous is not in system:authenticated, whoever names it', async () => {
  const anonymous: [string, string] = ['X-Remote-User', 'system:anonymous']
  expect((await ask(good, [anonymous])).user.groups).toEqual([])
  expect((await ask(good, [anonymous, ['X-Remote-Group', 'a']])).user.groups).toEqual(['a'])
  expect((await ask(await leaf(clients, 'system:anonymous'), [])).user.groups).toEqual([])
})

test.each<[string, Made, [string, string][], object?]>([
  ['without a user', good, []],
  ['of another authority', await leaf(await authority('front-proxy-ca'), 'front-proxy-client'), [alice]],
  ['of another name', await leaf(proxies, 'somebody'), [alice]],
  ['that is revoked', good, [alice], { certRevoked: '1' }],
  ['of which is not said whether it is revoked', good, [alice], { certRevoked: undefined }],
  ['that was not verified', good, [alice], { certVerified: 'FAILED:issuer' }],
])('%s: 401', async (_, certificate, headers, more) => {
  await expect(ask(certificate, headers, more)).rejects.toMatchObject({ code: 401 })
})

test('a client’s certificate with the proxy’s name is that client’s, whatever the headers say', async () => {
  const { user } = await ask(await leaf(clients, 'front-proxy-client'), [alice])
  expect(user.name).toBe('front-proxy-client')
})

test('RemoteRequestHeaderUID decides whether the UID is read', async () => {
  const uidWith = async (gates: string) => {
    const { request } = memoryServer({ KEDGE_REQUESTHEADER_CA: proxies.pem, KEDGE_FEATURE_GATES: gates })
    const headers: [string, string][] = [alice, ['X-Remote-Uid', 'u-1']]
    const certificate = { certPresented: '1', certVerified: 'SUCCESS', certRevoked: '0', certRFC9440: good.item }
    return (await authenticate(request('/', { headers, cf: { tlsClientAuth: certificate } }))).user.uid
  }
  expect(await uidWith('')).toBe('u-1')
  expect(await uidWith('RemoteRequestHeaderUID=false')).toBe('')
})
