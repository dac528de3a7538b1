// X.509 certificates for the local server (RFC 5280): P-256 keys, signed with ECDSA and SHA-256.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import {
  bitString,
  boolean,
  explicit,
  implicit,
  namedBits,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  time,
  unsignedInteger,
  utf8String,
} from './der.ts'
import type { Der } from './der.ts'

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

export function createAuthority(subject: Subject, now: Date, days: number): Credential {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return certify({
    subject,
    issuer: subject,
    publicKey: keys.publicKey,
    key: keys.privateKey,
    signer: keys.privateKey,
    now,
    days,
    extensions: [
      extension(BASIC_CONSTRAINTS, true, sequence(boolean(true))),
      extension(KEY_USAGE, true, namedBits(0, 2, 5)), // digitalSignature, keyEncipherment, keyCertSign
    ],
    authority: undefined,
  })
}

export interface Leaf {
  readonly subject: Subject
  readonly usage: 'server' | 'client'
  /** DNS names and IP addresses. */
  readonly names?: readonly string[]
  readonly days: number
}

export function issue(authority: Credential, authoritySubject: Subject, leaf: Leaf, now: Date): Credential {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signer = createPrivateKey(authority.key)
  return certify({
    subject: leaf.subject,
    issuer: authoritySubject,
    publicKey: keys.publicKey,
    key: keys.privateKey,
    signer,
    now,
    days: leaf.days,
    extensions: [
      extension(BASIC_CONSTRAINTS, true, sequence()),
      extension(KEY_USAGE, true, namedBits(0, 2)), // digitalSignature, keyEncipherment
      extension(EXTENDED_KEY_USAGE, false, sequence(leaf.usage === 'server' ? SERVER_AUTH : CLIENT_AUTH)),
      ...(leaf.names?.length ? [extension(SUBJECT_ALT_NAME, false, sequence(...leaf.names.map(generalName)))] : []),
    ],
    authority: createPublicKey(signer),
  })
}

const ECDSA_WITH_SHA256 = sequence(objectIdentifier('1.2.840.10045.4.3.2'))
const BASIC_CONSTRAINTS = objectIdentifier('2.5.29.19')
const KEY_USAGE = objectIdentifier('2.5.29.15')
const EXTENDED_KEY_USAGE = objectIdentifier('2.5.29.37')
const SUBJECT_ALT_NAME = objectIdentifier('2.5.29.17')
const SUBJECT_KEY_IDENTIFIER = objectIdentifier('2.5.29.14')
const AUTHORITY_KEY_IDENTIFIER = objectIdentifier('2.5.29.35')
const SERVER_AUTH = objectIdentifier('1.3.6.1.5.5.7.3.1')
const CLIENT_AUTH = objectIdentifier('1.3.6.1.5.5.7.3.2')
const ORGANIZATION = objectIdentifier('2.5.4.10')
const COMMON_NAME = objectIdentifier('2.5.4.3')

interface Request {
  readonly subject: Subject
  readonly issuer: Subject
  readonly publicKey: KeyObject
  readonly key: KeyObject
  readonly signer: KeyObject
  readonly now: Date
  readonly days: number
  readonly extensions: readonly Der[]
  /** The signer's public key, where it is another's. */
  readonly authority: KeyObject | undefined
}

function certify(request: Request): Credential {
  const { now, publicKey, authority } = request
  const extensions = [
    ...request.extensions,
    extension(SUBJECT_KEY_IDENTIFIER, false, octetString(keyIdentifier(publicKey))),
    ...(authority ? [extension(AUTHORITY_KEY_IDENTIFIER, false, sequence(implicit(0, keyIdentifier(authority))))] : []),
  ]
  const toBeSigned = sequence(
    explicit(0, unsignedInteger(Buffer.from([2]))), // version 3
    unsignedInteger(serialNumber()),
    ECDSA_WITH_SHA256,
    distinguishedName(request.issuer),
    // A client whose clock is a little behind must be able to use it at once.
    sequence(time(new Date(now.getTime() - 300_000)), time(new Date(now.getTime() + request.days * DAY))),
    distinguishedName(request.subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions)),
  )
  const signature = sign('sha256', toBeSigned, request.signer)
  return {
    certificate: pem('CERTIFICATE', sequence(toBeSigned, ECDSA_WITH_SHA256, bitString(signature))),
    key: request.key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** 64 random bits, positive and never zero. */
function serialNumber(): Uint8Array {
  const octets = randomBytes(8)
  octets[0] = (octets[0]! & 0x7f) | 0x40
  return octets
}

/** Each organization is a set of its own, before the common name: the order that Kubernetes reads groups in. */
function distinguishedName(subject: Subject): Der {
  const attribute = (type: Der, value: string): Der => setOf(sequence(type, utf8String(value)))
  return sequence(
    ...(subject.organizations ?? []).map((name) => attribute(ORGANIZATION, name)),
    attribute(COMMON_NAME, subject.commonName),
  )
}

function extension(type: Der, critical: boolean, value: Der): Der {
  return sequence(type, ...(critical ? [boolean(true)] : []), octetString(value))
}

function generalName(name: string): Der {
  return isIPv4(name) || isIPv6(name) ? implicit(7, addressOctets(name)) : implicit(2, Buffer.from(name, 'ascii'))
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

/** RFC 5280 §4.2.1.2, method 1, of the whole SubjectPublicKeyInfo: any number that is the key's own will do. */
function keyIdentifier(key: KeyObject): Uint8Array {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
}

function pem(label: string, der: Der): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
