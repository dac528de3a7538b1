/** Whether a private key is that of a certificate, as far as the key says what its public half is. */
import type { Certificate } from './certificate.ts'
import { elements, readElement, TAG } from './der.ts'

/** In ECPrivateKey (RFC 5915 §3): the public key, which may be left out. */
const EC_PUBLIC_KEY = 0xa1

/**
 * Undefined: the key does not say.
 * @throws RangeError where the key is not to be read
 * @param key PrivateKeyInfo (RFC 5208 §5) of an RSA or EC key
 */
export function isKeyOf(key: Uint8Array, { publicKey }: Pick<Certificate, 'publicKey'>): boolean | undefined {
  const [, , wrapped] = elements(readElement(key).content)
  const [, bits] = elements(readElement(publicKey).content)
  if (wrapped?.tag !== TAG.octetString || bits === undefined) return undefined
  const inner = readElement(wrapped.content)
  if (inner.tag !== TAG.sequence) return undefined // Ed25519 has its private half only
  const parts = elements(inner.content)
  const named = bits.content.subarray(1) // behind the number of unused bits
  const ofCurve = parts.find(({ tag }) => tag === EC_PUBLIC_KEY)
  if (ofCurve !== undefined) return sameBytes(readElement(ofCurve.content).content.subarray(1), named)
  // RSAPrivateKey begins with its version and the modulus, RSAPublicKey with the modulus
  const [, modulus] = parts
  if (parts.length < 9 || modulus?.tag !== TAG.integer) return undefined
  const [theirs] = elements(readElement(named).content)
  return theirs !== undefined && sameBytes(modulus.content, theirs.content)
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at])
