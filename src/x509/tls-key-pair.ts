/**
 * Whether a certificate and a private key are a pair, with the texts of Go's crypto/tls. What a key does not say by itself
 * is not computed: an elliptic key without its public half, and the public half of an Ed25519 key.
 */
import { sameBytes } from '../base/bytes.ts'
import { readCertificate } from './certificate.ts'
import { contextTag, elements, readElement, readObjectIdentifier, TAG } from './der.ts'
import type { PemBlock } from './pem.ts'
import { pemBlocks } from './pem.ts'

interface PublicHalf {
  readonly kind: 'RSA' | 'EC' | 'Ed25519'
  /** Undefined: not known. */
  readonly value?: Uint8Array | undefined
}

const RSA = '1.2.840.113549.1.1.1'
const EC = '1.2.840.10045.2.1'
const ED25519 = '1.3.101.112'
/** P-224, P-256, P-384 and P-521. */
const CURVES = new Set(['1.3.132.0.33', '1.2.840.10045.3.1.7', '1.3.132.0.34', '1.3.132.0.35'])

const isKey = ({ type }: PemBlock): boolean => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY')

/**
 * @param certificate PEM; a chain begins with the certificate of the key
 * @param key PEM
 * @returns what is wrong, or undefined where nothing is known to be
 */
export function keyPairProblem(certificate: string, key: string): string | undefined {
  const certificates = pemBlocks(certificate)
  const first = certificates.find(({ type }) => type === 'CERTIFICATE')
  if (first === undefined) return `tls: failed to find ${certificateLack(certificates.map(({ type }) => type))}`
  const keys = pemBlocks(key)
  const own = keys.find(isKey)
  if (own === undefined) return `tls: ${keyLack(keys.map(({ type }) => type))}`
  const wanted = publicHalfOf(first.bytes)
  if (typeof wanted === 'string') return wanted
  const had = privateKey(own.bytes)
  if (had === undefined) return 'tls: failed to parse private key'
  if (wanted === undefined) return 'tls: unknown public key algorithm'
  if (had.kind !== wanted.kind) return 'tls: private key type does not match public key type'
  if (had.value === undefined || wanted.value === undefined || sameBytes(had.value, wanted.value)) return undefined
  return 'tls: private key does not match public key'
}

function certificateLack(types: readonly string[]): string {
  if (types.length === 0) return 'any PEM data in certificate input'
  if (types.length === 1 && types[0]!.endsWith('PRIVATE KEY'))
    return 'certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
  return `"CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(' ')}]`
}

function keyLack(types: readonly string[]): string {
  if (types.length === 0) return 'failed to find any PEM data in key input'
  if (types.length === 1 && types[0] === 'CERTIFICATE')
    return 'found a certificate rather than a key in the PEM for the private key'
  return `failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${types.join(' ')}]`
}

/** @returns undefined for a key of another kind, and a text where the certificate cannot be read */
function publicHalfOf(certificate: Uint8Array): PublicHalf | string | undefined {
  try {
    const [algorithm, bits] = elements(readElement(readCertificate(certificate).publicKey).content)
    const [type, parameters] = elements(algorithm!.content)
    const value = bits!.content.subarray(1) // behind the number of unused bits
    switch (readObjectIdentifier(type!.content)) {
      case RSA:
        return { kind: 'RSA', value: numbersOf(value, 0) }
      case EC:
        return isCurve(parameters?.content) ? { kind: 'EC', value } : 'x509: unsupported elliptic curve'
      case ED25519:
        return { kind: 'Ed25519', value }
      default:
        return undefined
    }
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return 'x509: malformed certificate'
    throw error
  }
}

/** Modulus and exponent, which stand one after the other from the element `at` on. */
function numbersOf(rsa: Uint8Array, at: number): Uint8Array {
  const { tag, content } = readElement(rsa)
  const [modulus, exponent] = elements(content).slice(at, at + 2)
  if (tag !== TAG.sequence || modulus?.tag !== TAG.integer || exponent?.tag !== TAG.integer)
    throw new RangeError('no RSA key')
  return content
    .subarray(modulus.whole.byteOffset - content.byteOffset)
    .subarray(0, modulus.whole.length + exponent.whole.length)
}

const isCurve = (oid: Uint8Array | undefined): boolean => oid !== undefined && CURVES.has(readObjectIdentifier(oid))

/** PKCS #1, PKCS #8 or SEC 1. Undefined where it cannot be read. */
function privateKey(der: Uint8Array): PublicHalf | undefined {
  try {
    const parts = elements(readElement(der).content)
    if (parts.length >= 9 && parts.every(({ tag }) => tag === TAG.integer || tag === TAG.sequence))
      return { kind: 'RSA', value: numbersOf(der, 1) }
    const [, second, third] = parts
    if (second?.tag === TAG.octetString) return ellipticKey(der)
    if (second?.tag !== TAG.sequence || third?.tag !== TAG.octetString) return undefined
    const [type, parameters] = elements(second.content)
    switch (readObjectIdentifier(type!.content)) {
      case RSA:
        return { kind: 'RSA', value: numbersOf(third.content, 1) }
      case EC:
        return ellipticKey(third.content, parameters?.content)
      case ED25519:
        return { kind: 'Ed25519' }
      default:
        return undefined
    }
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return undefined
    throw error
  }
}

/** @param curve where it is known beforehand */
function ellipticKey(der: Uint8Array, curve?: Uint8Array): PublicHalf | undefined {
  const parts = elements(readElement(der).content)
  const inside = (number: number) => {
    const part = parts.find(({ tag }) => tag === contextTag(number))
    return part === undefined ? undefined : readElement(part.content).content
  }
  if (!isCurve(curve ?? inside(0))) return undefined
  return { kind: 'EC', value: inside(1)?.subarray(1) }
}
