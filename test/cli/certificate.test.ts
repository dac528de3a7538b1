import { X509Certificate, createPrivateKey } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { addressOctets, createAuthority, issue } from '../../src/cli/certificate.ts'
import { namedBits, objectIdentifier, tagged, time, unsignedInteger } from '../../src/cli/der.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const SUBJECT = { commonName: 'test-ca' }
const authority = createAuthority(SUBJECT, NOW, 3650)

describe('DER', () => {
  const hex = (der: Uint8Array) => Buffer.from(der).toString('hex')
  test.each([
    ['a short length', tagged(0x04, new Uint8Array(3)), '0403000000'],
    ['a length of two octets', tagged(0x04, new Uint8Array(300)).subarray(0, 4), '0482012c'],
    ['an integer without leading zeros', unsignedInteger(Buffer.from([0, 0, 5])), '020105'],
    ['an integer that would look negative', unsignedInteger(Buffer.from([0x80])), '02020080'],
    ['zero', unsignedInteger(Buffer.from([0])), '020100'],
    ['named bits', namedBits(0, 2), '030205a0'],
    ['an object identifier', objectIdentifier('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
    ['a time of this half of the century', time(NOW), '170d3236313132313132303030305a'],
    ['a later time', time(new Date('2050-01-01T00:00:00Z')), '180f32303530303130313030303030305a'],
  ])('%s', (_name, der, expected) => expect(hex(der)).toBe(expected))
})

describe('certificates', () => {
  test('an authority signs itself and may sign others', () => {
    const certificate = new X509Certificate(authority.certificate)
    expect(certificate.ca).toBe(true)
    expect(certificate.subject).toBe('CN=test-ca')
    expect(certificate.verify(certificate.publicKey)).toBe(true)
    expect(certificate.checkPrivateKey(createPrivateKey(authority.key))).toBe(true)
    expect(Date.parse(certificate.validTo) - NOW.getTime()).toBe(3650 * 86_400_000)
  })

  test('a server certificate has its names', () => {
    const names = ['localhost', 'api.example.com', '127.0.0.1', '::1', '2001:db8::5']
    const server = issue(authority, SUBJECT, { subject: { commonName: 's' }, usage: 'server', names, days: 1 }, NOW)
    const certificate = new X509Certificate(server.certificate)
    expect(certificate.checkIssued(new X509Certificate(authority.certificate))).toBe(true)
    expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true)
    expect(certificate.ca).toBe(false)
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    expect(certificate.subjectAltName).toBe(
      'DNS:localhost, DNS:api.example.com, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:2001:DB8:0:0:0:0:0:5',
    )
  })

  test('a client certificate has its groups in order, before the name', () => {
    const subject = { commonName: 'jané', organizations: ['b', 'a'] }
    const client = issue(authority, SUBJECT, { subject, usage: 'client', days: 1 }, NOW)
    const certificate = new X509Certificate(client.certificate)
    expect(certificate.subject).toBe('O=b\nO=a\nCN=jané')
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
  })
})

test.each([
  ['10.0.0.255', '0a0000ff'],
  ['::', '00000000000000000000000000000000'],
  ['2001:db8::ff00:42:8329', '20010db8000000000000ff0000428329'],
  ['::ffff:1.2.3.4', '00000000000000000000ffff01020304'],
])('octets of %s', (address, expected) => expect(Buffer.from(addressOctets(address)).toString('hex')).toBe(expected))
