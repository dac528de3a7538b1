/** Public keys (SubjectPublicKeyInfo, RFC 5280 and RFC 3279), and proofs that a requester has the private key. */
import { ownValue } from '../base/own.ts'
import { elements, readElement } from './der.ts'
import { isSignedBy, keyAlgorithm, RSA_KEY } from './signature.ts'

export type PublicKey =
  | { readonly kind: 'Ed25519' }
  /** `curve` is the common name of the curve; undefined for an unknown one. */
  | { readonly kind: 'EC'; readonly curve: string | undefined }
  | { readonly kind: 'RSA'; readonly modulusBits: number }
  | { readonly kind: 'other' }

const ED25519 = '1.3.101.112'
const EC_KEY = '1.2.840.10045.2.1'
const ECDSA_SHA256 = '1.2.840.10045.4.3.2'
const curves: Readonly<Record<string, string>> = {
  '1.3.132.0.33': 'P-224',
  '1.2.840.10045.3.1.7': 'P-256',
  '1.3.132.0.34': 'P-384',
  '1.3.132.0.35': 'P-521',
}

/** @throws RangeError, TypeError where it is no public key */
export function readPublicKey(der: Uint8Array): PublicKey {
  const whole = readElement(der)
  const [, bits] = elements(whole.content)
  if (whole.whole.length !== der.length || bits === undefined) throw new RangeError('no public key')
  const [algorithm, curve = ''] = keyAlgorithm(der)
  switch (algorithm) {
    case ED25519:
      return { kind: 'Ed25519' }
    case EC_KEY:
      return { kind: 'EC', curve: ownValue(curves, curve) }
    case RSA_KEY:
      return { kind: 'RSA', modulusBits: modulusBytes(bits.content) * 8 }
    default:
      return { kind: 'other' }
  }
}

function modulusBytes(bitString: Uint8Array): number {
  const [modulus] = elements(readElement(bitString.subarray(1)).content)
  const { content } = modulus!
  return content[0] === 0 ? content.length - 1 : content.length
}

const SHA256_BYTES = 32

/** Whether `signature` of `bytes` was made with the private key: RSA-PSS and ECDSA with SHA-256, or Ed25519. */
export async function provesPossession(der: Uint8Array, bytes: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const key = readPublicKey(der)
  try {
    switch (key.kind) {
      case 'Ed25519':
        return await isSignedBy({ bytes, algorithm: ED25519, signature }, der)
      case 'EC':
        return await isSignedBy({ bytes, algorithm: ECDSA_SHA256, signature }, der)
      case 'RSA':
        return await isPssSigned(der, bytes, signature, key.modulusBits / 8 - SHA256_BYTES - 2)
      case 'other':
        return false
    }
  } catch {
    return false
  }
}

/** The salt may have any length: some signers choose the longest, others that of the hash. */
async function isPssSigned(
  der: Uint8Array,
  bytes: Uint8Array,
  signature: Uint8Array,
  longest: number,
): Promise<boolean> {
  const algorithm = { name: 'RSA-PSS', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('spki', der, algorithm, false, ['verify'])
  for (const saltLength of [longest, SHA256_BYTES, 0])
    if (await crypto.subtle.verify({ ...algorithm, saltLength }, key, signature, bytes)) return true
  return false
}
