/** Signatures of certificates and certificate requests, by WebCrypto (RFC 3279, RFC 5758, RFC 8410). */
import { ownValue } from '../base/own.ts'
import {
  elements,
  objectIdentifier,
  readElement,
  readObjectIdentifier,
  sequence,
  unsignedInteger,
  write,
} from './der.ts'

type Hash = 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512'
type Scheme =
  | { readonly kind: 'RSA'; readonly hash: Hash }
  | { readonly kind: 'EC'; readonly hash: Hash }
  | { readonly kind: 'Ed25519' }

const RSA_SHA256 = '1.2.840.113549.1.1.11'
const ECDSA_SHA256 = '1.2.840.10045.4.3.2'

const schemes: Readonly<Record<string, Scheme>> = {
  [RSA_SHA256]: { kind: 'RSA', hash: 'SHA-256' },
  '1.2.840.113549.1.1.12': { kind: 'RSA', hash: 'SHA-384' },
  '1.2.840.113549.1.1.13': { kind: 'RSA', hash: 'SHA-512' },
  [ECDSA_SHA256]: { kind: 'EC', hash: 'SHA-256' },
  '1.2.840.10045.4.3.3': { kind: 'EC', hash: 'SHA-384' },
  '1.2.840.10045.4.3.4': { kind: 'EC', hash: 'SHA-512' },
  '1.3.101.112': { kind: 'Ed25519' },
}

/** Only requests may use them: their signature proves who has a key, and nobody else relies on it. */
const requestSchemes: Readonly<Record<string, Scheme>> = {
  ...schemes,
  '1.2.840.113549.1.1.5': { kind: 'RSA', hash: 'SHA-1' },
  '1.3.14.3.2.29': { kind: 'RSA', hash: 'SHA-1' },
  '1.2.840.10045.4.1': { kind: 'EC', hash: 'SHA-1' },
}

interface Curve {
  readonly namedCurve: string
  readonly bytes: number
}

const curves: Readonly<Record<string, Curve>> = {
  '1.2.840.10045.3.1.7': { namedCurve: 'P-256', bytes: 32 },
  '1.3.132.0.34': { namedCurve: 'P-384', bytes: 48 },
  '1.3.132.0.35': { namedCurve: 'P-521', bytes: 66 },
}

export const RSA_KEY = '1.2.840.113549.1.1.1'

export interface Signed {
  /** The signed octets. */
  readonly bytes: Uint8Array
  /** OID. */
  readonly algorithm: string
  readonly signature: Uint8Array
}

/** `SEQUENCE { contents, algorithm, signature }`: the form of certificates and of certificate requests. */
export function readSigned(der: Uint8Array): Signed & { readonly content: Uint8Array } {
  const [bytes, algorithm, signature] = elements(readElement(der).content)
  return {
    bytes: bytes!.whole,
    content: bytes!.content,
    algorithm: readObjectIdentifier(elements(algorithm!.content)[0]!.content),
    signature: signature!.content.subarray(1), // a bit string begins with the number of unused bits
  }
}

/** @param publicKey SubjectPublicKeyInfo */
export const isSignedBy = (signed: Signed, publicKey: Uint8Array): Promise<boolean> =>
  isSignedIn(ownValue(schemes, signed.algorithm), signed, publicKey)

/** Like isSignedBy, for a certificate request. */
export const isRequestSignedBy = (signed: Signed, publicKey: Uint8Array): Promise<boolean> =>
  isSignedIn(ownValue(requestSchemes, signed.algorithm), signed, publicKey)

async function isSignedIn(
  scheme: Scheme | undefined,
  { bytes, signature }: Signed,
  publicKey: Uint8Array,
): Promise<boolean> {
  if (scheme === undefined) return false
  switch (scheme.kind) {
    case 'RSA': {
      const rsa = { name: 'RSASSA-PKCS1-v1_5', hash: scheme.hash }
      const key = await crypto.subtle.importKey('spki', publicKey, rsa, false, ['verify'])
      return crypto.subtle.verify(rsa, key, signature, bytes)
    }
    case 'EC': {
      const curve = ownValue(curves, keyAlgorithm(publicKey)[1] ?? '')
      if (curve === undefined) return false
      const ecdsa = { name: 'ECDSA', namedCurve: curve.namedCurve, hash: scheme.hash }
      const key = await crypto.subtle.importKey('spki', publicKey, ecdsa, false, ['verify'])
      return crypto.subtle.verify(ecdsa, key, rawSignature(signature, curve.bytes), bytes)
    }
    case 'Ed25519': {
      const key = await crypto.subtle.importKey('spki', publicKey, 'Ed25519', false, ['verify'])
      return crypto.subtle.verify('Ed25519', key, signature, bytes)
    }
  }
}

/**
 * OIDs of a key's algorithm and, for elliptic keys, of its curve.
 * @param publicKey SubjectPublicKeyInfo
 */
export function keyAlgorithm(publicKey: Uint8Array): string[] {
  const [algorithm] = elements(readElement(publicKey).content)
  return algorithmNames(algorithm!.content)
}

/**
 * Like keyAlgorithm, for a private key.
 * @param privateKey PKCS #8
 */
export function privateKeyAlgorithm(privateKey: Uint8Array): string[] {
  const [, algorithm] = elements(readElement(privateKey).content)
  if (algorithm === undefined) throw new RangeError('no private key')
  return algorithmNames(algorithm.content)
}

export const isSigningCurve = (curve: string): boolean => ownValue(curves, curve) !== undefined

const algorithmNames = (content: Uint8Array): string[] =>
  elements(content)
    .filter(({ tag }) => tag === 0x06)
    .map((element) => readObjectIdentifier(element.content))

export interface Signer {
  /** OID. */
  readonly name: string
  /** AlgorithmIdentifier. */
  readonly algorithm: Uint8Array
  sign(bytes: Uint8Array): Promise<Uint8Array>
}

/** @param privateKey PKCS #8 */
export async function signerOf(privateKey: Uint8Array): Promise<Signer> {
  const [kind, curveName = ''] = privateKeyAlgorithm(privateKey)
  if (kind === RSA_KEY) {
    const rsa = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    const key = await crypto.subtle.importKey('pkcs8', privateKey, rsa, false, ['sign'])
    return {
      name: RSA_SHA256,
      algorithm: sequence(objectIdentifier(RSA_SHA256), write(0x05)),
      sign: async (bytes) => new Uint8Array(await crypto.subtle.sign(rsa, key, bytes)),
    }
  }
  const curve = ownValue(curves, curveName)
  if (curve === undefined) throw new Error(`keys of ${kind} ${curveName} cannot sign certificates`)
  const ecdsa = { name: 'ECDSA', namedCurve: curve.namedCurve, hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('pkcs8', privateKey, ecdsa, false, ['sign'])
  return {
    name: ECDSA_SHA256,
    algorithm: sequence(objectIdentifier(ECDSA_SHA256)),
    sign: async (bytes) => derSignature(new Uint8Array(await crypto.subtle.sign(ecdsa, key, bytes))),
  }
}

/**
 * Converts an ECDSA signature from DER, which has two integers, to WebCrypto's form with two numbers of full length.
 */
function rawSignature(der: Uint8Array, bytes: number): Uint8Array {
  const raw = new Uint8Array(bytes * 2)
  elements(readElement(der).content).forEach(({ content }, index) => {
    const number = content.subarray(Math.max(0, content.length - bytes))
    raw.set(number, bytes * (index + 1) - number.length)
  })
  return raw
}

function derSignature(raw: Uint8Array): Uint8Array {
  const half = raw.length / 2
  return sequence(unsignedInteger(raw.subarray(0, half)), unsignedInteger(raw.subarray(half)))
}
