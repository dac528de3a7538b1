import { beforeAll, expect, test } from 'vitest'
import { authenticate } from '../../src/authentication/authenticate.ts'
import type { ClientCertificate } from '../../src/authentication/client-certificate.ts'
import { memoryServer } from '../request-in-memory.ts'
import { authorityBit, client, CN, keyUsage, makeCertificate, O } from '../x509/make-certificate.ts'
import type { Made, Wanted } from '../x509/make-certificate.ts'

const now = new Date()
const ca = [authorityBit(), keyUsage(5)]
const root = await makeCertificate(now, { subject: [[CN, 'kubernetes']], extensions: ca })
const other = await makeCertificate(now, { subject: [[CN, 'kubernetes']], extensions: ca })
const proxies = await makeCertificate(now, { subject: [[CN, 'front-proxy-ca']], extensions: ca })
const leaf = (by: Made, ...subject: Wanted['subject']): Promise<Made> =>
  makeCertificate(now, { subject, by, extensions: client })

const UID = '1.3.6.1.4.1.57683.2'
const carol = await leaf(root, [O, 'dev'], [O, 'a\\, O=system:masters'], [CN, 'first'], [CN, 'carol'])
const inForce = ({ item }: Made): ClientCertificate => ({
  certPresented: '1',
  certVerified: 'SUCCESS',
  certRevoked: '0',
  certRFC9440: item,
  certChainRFC9440: '',
})

let server: ReturnType<typeof memoryServer>
beforeAll(() => {
  server = memoryServer({
    KEDGE_ADMIN_TOKEN: 'an-administrators-secret-of-this-test',
    KEDGE_CA: root.pem,
    KEDGE_REQUESTHEADER_CA: proxies.pem,
  })
})

const userOf = async (tlsClientAuth: unknown, headers: Record<string, string> = {}, on = server) =>
  (await authenticate(on.request('/', { headers, cf: { tlsClientAuth } }))).user

test('the names are those that the authority signed, in the certificate’s order', async () => {
  for (let twice = 0; twice < 2; twice++)
    expect(
      await userOf({ ...inForce(carol), certSubjectDN: 'CN=somebody,O=system:masters', organizations: ['x'] }),
    ).toEqual({
      name: 'carol',
      uid: '',
      groups: ['dev', 'a\\, O=system:masters', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
    })
})

test('the certificate may have a UID, which AllowParsingUserUIDFromCertAuth=false ignores', async () => {
  const erin = inForce(await leaf(root, [CN, 'erin'], [UID, 'u-1']))
  expect(await userOf(erin)).toMatchObject({ name: 'erin', uid: 'u-1' })
  const without = memoryServer({ KEDGE_CA: root.pem, KEDGE_FEATURE_GATES: 'AllowParsingUserUIDFromCertAuth=false' })
  for (let twice = 0; twice < 2; twice++)
    expect(await userOf(erin, {}, without)).toMatchObject({ name: 'erin', uid: '' })
})

test('it comes before a token', async () => {
  expect(await userOf(inForce(carol), { Authorization: 'Bearer garbage' })).toMatchObject({ name: 'carol' })
})

const bad: readonly (readonly [what: string, certificate: ClientCertificate])[] = [
  ['revoked', { ...inForce(carol), certRevoked: '1' }],
  ['of which is not said whether it is revoked', { ...inForce(carol), certRevoked: undefined } as ClientCertificate],
  ['that was not verified', { ...inForce(carol), certVerified: 'FAILED:self signed certificate' }],
  ['of which is not said whether it was verified', { certPresented: '1', certRFC9440: carol.item }],
  ['of another authority that the zone accepts', inForce(await leaf(other, [CN, 'carol']))],
  ['of the authority of front proxies', inForce(await leaf(proxies, [CN, 'front-proxy-client']))],
  [
    'by which this server is a client of kubelets',
    inForce(await leaf(root, [O, 'system:masters'], [CN, 'kube-apiserver-kubelet-client'])),
  ],
  ['that is too large to be handed over', { ...inForce(carol), certRFC9440: '' }],
  ['in another form', { ...inForce(carol), certRFC9440: carol.item.slice(1, -1) }],
  ['with two UIDs', inForce(await leaf(root, [CN, 'carol'], [UID, 'a'], [UID, 'b']))],
  ['with an empty UID', inForce(await leaf(root, [CN, 'carol'], [UID, '']))],
  ['without a name', inForce(await leaf(root, [O, 'system:masters']))],
  [
    'whose chain cannot be read',
    { ...inForce(await leaf(await leaf(root, [CN, 'x']), [CN, 'y'])), certChainRFC9440: 'x' },
  ],
]

test.each(bad)('a certificate %s: 401, unless something else is good', async (_what, certificate) => {
  await expect(userOf(certificate)).rejects.toMatchObject({ code: 401 })
  expect(await userOf(certificate, { Authorization: 'Bearer an-administrators-secret-of-this-test' })).toMatchObject({
    name: 'kubernetes-admin',
  })
})

test('a certificate that was valid is refused once it is revoked or expired', async () => {
  const on = memoryServer({ KEDGE_CA: root.pem })
  await userOf(inForce(carol), {}, on)
  await expect(userOf({ ...inForce(carol), certRevoked: '1' }, {}, on)).rejects.toMatchObject({ code: 401 })
  on.now = new Date(now.getTime() + 3 * 86_400_000)
  await expect(userOf(inForce(carol), {}, on)).rejects.toMatchObject({ code: 401 })
})

test('a control plane without an authority accepts none', async () => {
  await expect(userOf(inForce(carol), {}, memoryServer())).rejects.toMatchObject({ code: 401 })
})

test('an authority in between is taken from what the client sent', async () => {
  const middle = await makeCertificate(now, { subject: [[CN, 'middle']], by: root, extensions: ca })
  const presented = inForce(await leaf(middle, [CN, 'dave']))
  await expect(userOf(presented)).rejects.toMatchObject({ code: 401 })
  expect(await userOf({ ...presented, certChainRFC9440: `${other.item}, ${middle.item}` })).toMatchObject({
    name: 'dave',
  })
})

test('the cache of certificates is bounded, and the server accepts all of them', async () => {
  expect(await userOf(inForce(carol))).toMatchObject({ name: 'carol' })
  for (let n = 0; n < 20; n++)
    expect(await userOf(inForce(await leaf(root, [CN, `user-${n}`])))).toMatchObject({ name: `user-${n}` })
  expect(await userOf(inForce(carol))).toMatchObject({ name: 'carol' })
})
