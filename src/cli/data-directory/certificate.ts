// X.509 certificates for the local server (RFC 5280): P-256 keys, signed with ECDSA and SHA-256.
import { webcrypto } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import { readCertificate } from '../../x509/certificate.ts'
import { ALTERNATIVE_NAME } from '../../x509/certificate-request.ts'
import { namedBits, objectIdentifier, primitiveContextTag, sequence, TAG, write } from '../../x509/der.ts'
import { COMMON_NAME, ORGANIZATION } from '../../x509/name.ts'
import { pemBlocks, pemText } from '../../x509/pem.ts'
import { extension, signCertificate } from '../../x509/sign-certificate.ts'
import { signerOf } from '../../x509/signature.ts'

/** A certificate and its private key (PKCS #8), both as PEM. */
export interface Credential {
  readonly certificate: string
  readonly key: string
}

export interface Subject {
  readonly commonName: string
  readonly organizations?: readonly string[]
}

const DAY = 86_400_000
/** Milliseconds. Certificates begin in the past, for clients whose clock is a little behind. */
const BEHIND = 300_000

export async function createAuthority(subject: Subject, now: Date, days: number): Promise<Credential> {
  const keys = await createKeys()
  const name = distinguishedName(subject)
  const extensions = [
    extension(BASIC_CONSTRAINTS, true, sequence(write(TAG.boolean, Uint8Array.of(0xff)))),
    extension(KEY_USAGE, true, namedBits([0, 2, 5])), // digitalSignature, keyEncipherment, keyCertSign
    subjectKeyIdentifier(await keyIdentifier(keys.publicKey)),
  ]
  return certify({ key: keys.privateKey, name }, keys, { subject: name, now, days, extensions })
}

export interface Leaf {
  readonly subject: Subject
  readonly usage: 'server' | 'client'
  /** DNS names and IP addresses. */
  readonly names?: readonly string[]
  readonly days: number
}

export async function issue(authority: Credential, leaf: Leaf, now: Date): Promise<Credential> {
  const issuer = readCertificate(pemBlocks(authority.certificate)[0]!.bytes)
  const keys = await createKeys()
  const extensions = [
    extension(BASIC_CONSTRAINTS, true, sequence()),
    extension(KEY_USAGE, true, namedBits([0, 2])), // digitalSignature, keyEncipherment
    extension(EXTENDED_KEY_USAGE, false, sequence(leaf.usage === 'server' ? SERVER_AUTH : CLIENT_AUTH)),
    ...(leaf.names?.length ? [extension(ALTERNATIVE_NAME, false, sequence(...leaf.names.map(generalName)))] : []),
    subjectKeyIdentifier(await keyIdentifier(keys.publicKey)),
    ...(issuer.subjectKeyId === undefined ? [] : [authorityKeyIdentifier(issuer.subjectKeyId)]),
  ]
  const signer = { key: pemBlocks(authority.key)[0]!.bytes, name: issuer.subject }
  return certify(signer, keys, { subject: distinguishedName(leaf.subject), now, days: leaf.days, extensions })
}

const BASIC_CONSTRAINTS = '2.5.29.19'
const KEY_USAGE = '2.5.29.15'
const EXTENDED_KEY_USAGE = '2.5.29.37'
const SUBJECT_KEY_IDENTIFIER = '2.5.29.14'
const AUTHORITY_KEY_IDENTIFIER = '2.5.29.35'
const SERVER_AUTH = objectIdentifier('1.3.6.1.5.5.7.3.1')
const CLIENT_AUTH = objectIdentifier('1.3.6.1.5.5.7.3.2')

interface Keys {
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array
  /** PKCS #8, DER. */
  readonly privateKey: Uint8Array
}

async function createKeys(): Promise<Keys> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
  const { publicKey, privateKey } = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  return {
    publicKey: new Uint8Array(await webcrypto.subtle.exportKey('spki', publicKey)),
    privateKey: new Uint8Array(await webcrypto.subtle.exportKey('pkcs8', privateKey)),
  }
}

interface Issuer {
  /** PKCS #8, DER. */
  readonly key: Uint8Array
  /** DER. */
  readonly name: Uint8Array
}

interface Contents {
  /** DER. */
  readonly subject: Uint8Array
  readonly now: Date
  readonly days: number
  readonly extensions: readonly Uint8Array[]
}

async function certify(issuer: Issuer, keys: Keys, { subject, now, days, extensions }: Contents): Promise<Credential> {
  return {
    certificate: await signCertificate(await signerOf(issuer.key), {
      serial: serialNumber(),
      issuer: issuer.name,
      subject,
      notBefore: new Date(now.getTime() - BEHIND),
      notAfter: new Date(now.getTime() + days * DAY),
      publicKey: keys.publicKey,
      extensions,
    }),
    key: pemText('PRIVATE KEY', keys.privateKey),
  }
}

/** 64 random bits, positive and never zero. */
function serialNumber(): Uint8Array {
  const octets = crypto.getRandomValues(new Uint8Array(8))
  octets[0] = (octets[0]! & 0x7f) | 0x40
  return octets
}

/** Each organization is a set of its own, before the common name: the order in which Kubernetes reads groups. */
function distinguishedName(subject: Subject): Uint8Array {
  const attribute = (type: string, value: string): Uint8Array =>
    write(TAG.set, sequence(objectIdentifier(type), write(TAG.utf8String, Buffer.from(value, 'utf8'))))
  return sequence(
    ...(subject.organizations ?? []).map((name) => attribute(ORGANIZATION, name)),
    attribute(COMMON_NAME, subject.commonName),
  )
}

const subjectKeyIdentifier = (identifier: Uint8Array): Uint8Array =>
  extension(SUBJECT_KEY_IDENTIFIER, false, write(TAG.octetString, identifier))

const authorityKeyIdentifier = (identifier: Uint8Array): Uint8Array =>
  extension(AUTHORITY_KEY_IDENTIFIER, false, sequence(write(primitiveContextTag(0), identifier)))

function generalName(name: string): Uint8Array {
  return isIPv4(name) || isIPv6(name)
    ? write(primitiveContextTag(7), addressOctets(name))
    : write(primitiveContextTag(2), Buffer.from(name, 'ascii'))
}

/** The 4 or 16 octets of an IP address. */
export function addressOctets(address: string): Uint8Array {
  if (isIPv4(address)) return Uint8Array.from(address.split('.').map(Number))
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (part: string | undefined): number[] =>
    part ? part.split(':').map((group) => parseInt(group, 16)) : []
  const [first, last] = [groups(head), groups(tail)]
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 0xff]))
}

/** RFC 5280 §4.2.1.2, method 1, over the whole SubjectPublicKeyInfo: any number that identifies the key is allowed. */
const keyIdentifier = async (publicKey: Uint8Array): Promise<Uint8Array> =>
  new Uint8Array(await webcrypto.subtle.digest('SHA-1', publicKey))
