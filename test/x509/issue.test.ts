import { X509Certificate, createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { createAuthority } from '../../src/cli/data-directory/certificate.ts'
import { signerProblem } from '../../src/controllers/access/certificate-signers.ts'
import { BadRequestText, hasOwnSignature, parseCertificateRequest } from '../../src/x509/certificate-request.ts'
import {
  bitString,
  contextTag,
  objectIdentifier,
  primitiveContextTag,
  printable,
  sequence,
  unsignedInteger,
  write,
} from '../../src/x509/der.ts'
import { issueCertificate } from '../../src/x509/issue.ts'
import { pemBlocks, pemText } from '../../src/x509/pem.ts'
import { signerOf } from '../../src/x509/signature.ts'

type Subject = readonly (readonly [type: string, value: string])[]
const CN = '2.5.4.3'
const O = '2.5.4.10'

async function requestOf(
  kind: 'ec' | 'rsa',
  subject: Subject,
  names: readonly Uint8Array[] = [],
  times = 1,
): Promise<string> {
  const keys =
    kind === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  const signer = await signerOf(new Uint8Array(keys.privateKey.export({ type: 'pkcs8', format: 'der' })))
  const attributes = subject.map(([type, value]) => write(0x31, sequence(objectIdentifier(type), printable(value))))
  const extension = sequence(objectIdentifier('2.5.29.17'), write(0x04, sequence(...names)))
  const info = sequence(
    unsignedInteger(Uint8Array.of(0)),
    sequence(...attributes),
    new Uint8Array(keys.publicKey.export({ type: 'spki', format: 'der' })),
    write(
      contextTag(0),
      ...(names.length === 0
        ? []
        : [
            sequence(
              objectIdentifier('1.2.840.113549.1.9.14'),
              write(0x31, sequence(...Array<Uint8Array>(times).fill(extension))),
            ),
          ]),
    ),
  )
  return pemText('CERTIFICATE REQUEST', sequence(info, signer.algorithm, bitString(await signer.sign(info))))
}

const now = new Date('2026-05-01T00:00:00Z')
const authority = await createAuthority({ commonName: 'kubernetes' }, now, 30)
const dns = (name: string) => write(primitiveContextTag(2), new TextEncoder().encode(name))

test.each(['ec', 'rsa'] as const)('a certificate for a request with a key of kind %s', async (kind) => {
  const request = parseCertificateRequest(
    await requestOf(
      kind,
      [
        [CN, 'carol'],
        [O, 'zz'],
        [O, 'aa'],
      ],
      [dns('a.example.com'), write(primitiveContextTag(7), Uint8Array.of(10, 0, 0, 1))],
    ),
  )
  expect(await hasOwnSignature(request)).toBe(true)
  const pem = await issueCertificate(authority, {
    request,
    usages: ['client auth', 'digital signature'],
    notBefore: new Date(now.getTime() - 300_000),
    notAfter: new Date('2126-01-01T00:00:00Z'),
  })
  const certificate = new X509Certificate(pem)
  expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true)
  expect(certificate.subject).toBe('O=aa + O=zz\nCN=carol') // DER sorts sets, and organizations come first
  expect(certificate.issuer).toBe('CN=kubernetes')
  expect(certificate.subjectAltName).toBe('DNS:a.example.com, IP Address:10.0.0.1')
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
  expect(certificate.ca).toBe(false)
  expect(certificate.validFromDate).toEqual(new Date('2026-04-30T23:55:00Z'))
  // the certificate expires no later than the authority
  expect(certificate.validToDate).toEqual(new X509Certificate(authority.certificate).validToDate)
})

test('an authority with an RSA key', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const signer = await signerOf(new Uint8Array(key.export({ type: 'pkcs8', format: 'der' })))
  expect((await signer.sign(Uint8Array.of(1))).length).toBe(256)
})

test('a request that somebody else signed', async () => {
  const [ours, theirs] = await Promise.all([requestOf('ec', [[CN, 'a']]), requestOf('ec', [[CN, 'a']])])
  const request = parseCertificateRequest(ours)
  const { signature } = parseCertificateRequest(theirs).signed
  expect(await hasOwnSignature({ ...request, signed: { ...request.signed, signature } })).toBe(false)
})

test.each([
  ['', 'PEM block type must be CERTIFICATE REQUEST'],
  ['hello', 'PEM block type must be CERTIFICATE REQUEST'],
  [pemText('CERTIFICATE', Uint8Array.of(1)), 'PEM block type must be CERTIFICATE REQUEST'],
  [pemText('CERTIFICATE REQUEST', Uint8Array.of(0x30, 1)), 'asn1: structure error: malformed certificate request'],
])('%j is no request', (text, message) => {
  expect(() => parseCertificateRequest(text)).toThrow(new BadRequestText(message))
})

const MALFORMED = new BadRequestText('asn1: structure error: malformed certificate request')

test('an address of a wrong length, an extension that is requested twice, and octets behind a request', async () => {
  const address = write(primitiveContextTag(7), Uint8Array.of(1, 2, 3))
  const bad = await requestOf('ec', [[CN, 'x']], [address])
  expect(() => parseCertificateRequest(bad)).toThrow(MALFORMED)
  const twice = await requestOf('ec', [[CN, 'x']], [dns('a')], 2)
  expect(() => parseCertificateRequest(twice)).toThrow(MALFORMED)
  const { bytes } = pemBlocks(await requestOf('ec', [[CN, 'x']]))[0]!
  const longer = pemText('CERTIFICATE REQUEST', Uint8Array.of(...bytes, 5, 0))
  expect(() => parseCertificateRequest(longer)).toThrow(MALFORMED)
})

test('PEM: what stands around blocks does not count, headers are seen', () => {
  const block = pemText('A', Uint8Array.of(1, 2))
  expect(pemBlocks(block.repeat(3))).toHaveLength(3)
  expect(pemBlocks(`x\n${block}y\n${block.replace('-----\n', '-----\nProc-Type: 4\n\n')}`)).toMatchObject([
    { type: 'A', bytes: Uint8Array.of(1, 2), hasHeaders: false },
    { type: 'A', bytes: Uint8Array.of(1, 2), hasHeaders: true },
  ])
})

const CLIENT = 'kubernetes.io/kube-apiserver-client'
const KUBELET = 'kubernetes.io/kube-apiserver-client-kubelet'
const SERVING = 'kubernetes.io/kubelet-serving'
const node: Subject = [
  [O, 'system:nodes'],
  [CN, 'system:node:n'],
]

test.each<[string, Subject, Uint8Array[], string[], string | undefined]>([
  [CLIENT, [[CN, 'a']], [], ['client auth', 'key encipherment'], undefined],
  [CLIENT, [[CN, 'a']], [], ['digital signature'], 'missing required usage for client certificate: client auth'],
  [CLIENT, [[CN, 'a']], [], ['client auth', 'server auth'], 'invalid usage for client certificate: server auth'],
  [KUBELET, node, [], ['client auth', 'digital signature'], undefined],
  [
    KUBELET,
    [
      [O, 'x'],
      [CN, 'system:node:n'],
    ],
    [],
    [],
    'subject organization is not system:nodes',
  ],
  [
    KUBELET,
    [
      [O, 'system:nodes'],
      [CN, 'n'],
    ],
    [],
    [],
    'subject common name does not begin with system:node:',
  ],
  [KUBELET, node, [dns('x')], [], 'DNS subjectAltNames are not allowed'],
  [KUBELET, node, [], ['client auth'], 'usages did not match [client auth digital signature key encipherment]'],
  [SERVING, node, [], ['server auth', 'digital signature'], 'DNS or IP subjectAltName is required'],
  [SERVING, node, [dns('x')], ['server auth', 'digital signature'], undefined],
  ['example.com/own', node, [], [], 'not ours'],
])('%s: %j', async (signer, subject, names, usages, problem) => {
  expect(signerProblem(signer, parseCertificateRequest(await requestOf('ec', subject, names)), usages)).toBe(problem)
})
