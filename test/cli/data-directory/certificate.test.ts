import { X509Certificate, createPrivateKey } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { addressOctets, createAuthority, issue } from '../../../src/cli/data-directory/certificate.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const SUBJECT = { commonName: 'test-ca' }
const authority = await createAuthority(SUBJECT, NOW, 3650)

describe('certificates', () => {
  test('an authority signs itself and may sign others', () => {
    const certificate = new X509Certificate(authority.certificate)
    expect(certificate.ca).toBe(true)
    expect(certificate.subject).toBe('CN=test-ca')
    expect(certificate.verify(certificate.publicKey)).toBe(true)
    expect(certificate.checkPrivateKey(createPrivateKey(authority.key))).toBe(true)
    expect(Date.parse(certificate.validTo) - NOW.getTime()).toBe(3650 * 86_400_000)
  })

  test('a server certificate has its names', async () => {
    const names = ['localhost', 'api.example.com', '127.0.0.1', '::1', '2001:db8::5']
    const server = await issue(authority, { subject: { commonName: 's' }, usage: 'server', names, days: 1 }, NOW)
    const certificate = new X509Certificate(server.certificate)
    expect(certificate.checkIssued(new X509Certificate(authority.certificate))).toBe(true)
    expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true)
    expect(certificate.ca).toBe(false)
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    expect(certificate.subjectAltName).toBe(
      'DNS:localhost, DNS:api.example.com, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:2001:DB8:0:0:0:0:0:5',
    )
  })

  test('a client certificate has its groups in order, before the name', async () => {
    const subject = { commonName: 'jané', organizations: ['b', 'a'] }
    const client = await issue(authority, { subject, usage: 'client', days: 1 }, NOW)
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
