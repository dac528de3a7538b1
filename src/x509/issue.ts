/** Issues certificates for requests, in the form of Go's crypto/x509. */
import { ownValue } from '../base/own.ts'
import { readCertificate } from './certificate.ts'
import type { AlternativeNames, CertificateRequest } from './certificate-request.ts'
import { ALTERNATIVE_NAME } from './certificate-request.ts'
import { namedBits, objectIdentifier, primitiveContextTag, printable, sequence, TAG, write } from './der.ts'
import { COMMON_NAME } from './name.ts'
import { pemBlocks } from './pem.ts'
import { extension, signCertificate } from './sign-certificate.ts'
import { signerOf } from './signature.ts'

export interface Authority {
  /** PEM. */
  readonly certificate: string
  /** PEM of a PKCS #8 key. */
  readonly key: string
}

export interface Issue {
  readonly request: CertificateRequest
  /** Names of the certificates API: `client auth`, `digital signature` … */
  readonly usages: readonly string[]
  readonly notBefore: Date
  /** Never later than the authority's own end. */
  readonly notAfter: Date
}

/** @returns PEM */
export async function issueCertificate(authority: Authority, issue: Issue): Promise<string> {
  const issuer = readCertificate(pemBlocks(authority.certificate)[0]!.bytes)
  const signer = await signerOf(pemBlocks(authority.key)[0]!.bytes)
  const { request, notBefore, notAfter, usages } = issue
  const end = new Date(Math.min(notAfter.getTime(), issuer.notAfter))
  return signCertificate(signer, {
    serial: crypto.getRandomValues(new Uint8Array(16)),
    issuer: issuer.subject,
    subject: subjectName(request),
    notBefore,
    notAfter: end,
    publicKey: request.publicKey,
    extensions: extensions(request, usages, issuer.subjectKeyId),
  })
}

/** Attributes of a name in the order of certificates. Attributes of one type form one set. */
const subjectOrder = [
  '2.5.4.6', // country
  '2.5.4.10', // organization
  '2.5.4.11', // organizational unit
  '2.5.4.7', // locality
  '2.5.4.8', // province
  '2.5.4.9', // street
  '2.5.4.17', // postal code
  COMMON_NAME,
  '2.5.4.5', // serial number
]

function subjectName({ subject }: CertificateRequest): Uint8Array {
  const sets = subjectOrder.flatMap((type) => {
    const values = subject.filter(([name]) => name === type).map(([, value]) => value)
    if (values.length === 0) return []
    const shown = type === COMMON_NAME ? values.slice(-1) : values
    const attributes = shown.map((value) => sequence(objectIdentifier(type), printable(value)))
    return [write(TAG.set, ...attributes.sort(compareBytes))]
  })
  return sequence(...sets)
}

/** A DER set is sorted by the encodings of its elements. */
function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}

const keyUsages: Readonly<Record<string, number>> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
}

const PURPOSE = '1.3.6.1.5.5.7.3'
const extendedUsages: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': `${PURPOSE}.1`,
  'client auth': `${PURPOSE}.2`,
  'code signing': `${PURPOSE}.3`,
  'email protection': `${PURPOSE}.4`,
  's/mime': `${PURPOSE}.4`,
  'ipsec end system': `${PURPOSE}.5`,
  'ipsec tunnel': `${PURPOSE}.6`,
  'ipsec user': `${PURPOSE}.7`,
  timestamping: `${PURPOSE}.8`,
  'ocsp signing': `${PURPOSE}.9`,
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
}

function extensions(request: CertificateRequest, usages: readonly string[], authorityKeyId?: Uint8Array) {
  const bits = usages.flatMap((usage) => ownValue(keyUsages, usage) ?? [])
  const purposes = [...new Set(usages.flatMap((usage) => ownValue(extendedUsages, usage) ?? []))]
  const names = generalNames(request.alternativeNames)
  return [
    ...(bits.length === 0 ? [] : [extension('2.5.29.15', true, namedBits(bits))]),
    ...(purposes.length === 0 ? [] : [extension('2.5.29.37', false, sequence(...purposes.map(objectIdentifier)))]),
    extension('2.5.29.19', true, sequence()), // not an authority
    ...(authorityKeyId === undefined
      ? []
      : [extension('2.5.29.35', false, sequence(write(primitiveContextTag(0), authorityKeyId)))]),
    ...(names.length === 0 ? [] : [extension(ALTERNATIVE_NAME, request.subject.length === 0, sequence(...names))]),
  ]
}

function generalNames({ dnsNames, emails, addresses, uris }: AlternativeNames): Uint8Array[] {
  const text = (number: number) => (value: string) =>
    write(primitiveContextTag(number), new TextEncoder().encode(value))
  return [
    ...dnsNames.map(text(2)),
    ...emails.map(text(1)),
    ...addresses.map((address) => write(primitiveContextTag(7), address)),
    ...uris.map(text(6)),
  ]
}
