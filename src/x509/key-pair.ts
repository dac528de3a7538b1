/** Private keys that sign certificates. A key belongs to a certificate where both have the same public key. */
import { sameBytes } from '../base/bytes.ts'
import type { Certificate } from './certificate.ts'
import { elements, readElement, TAG } from './der.ts'
import { isSigningCurve, isSignedBy, keyAlgorithm, privateKeyAlgorithm, RSA_KEY, signerOf } from './signature.ts'

/** The tag of the optional public key in ECPrivateKey (RFC 5915 §3). */
const EC_PUBLIC_KEY = 0xa1
const EC_KEY = '1.2.840.10045.2.1'
const RSA_BYTES = 256

interface KeyHalf {
  /** OIDs: RSA, or EC and its curve. */
  readonly algorithm: string
  /** RSA's modulus and exponent, or the point of EC. */
  readonly numbers: readonly Uint8Array[]
}

/**
 * The public key that a private key contains. Undefined where the key has an algorithm that signs no certificates
 * here (signature.ts), is too short, or leaves out its public key.
 * @param key PrivateKeyInfo (RFC 5208 §5)
 * @throws RangeError, TypeError where it cannot be read
 */
export function publicHalfOf(key: Uint8Array): KeyHalf | undefined {
  const [kind, curve = ''] = privateKeyAlgorithm(key)
  const [, , wrapped] = elements(readElement(key).content)
  if (wrapped?.tag !== TAG.octetString || (kind !== RSA_KEY && kind !== EC_KEY)) return undefined
  const parts = elements(readElement(wrapped.content).content)
  if (kind === RSA_KEY) {
    // RSAPrivateKey: version, modulus, public exponent and six more
    const [, modulus, exponent] = parts
    if (parts.length < 9 || modulus === undefined || exponent === undefined) return undefined
    if (withoutSign(modulus.content).length < RSA_BYTES) return undefined
    return { algorithm: RSA_KEY, numbers: [modulus.content, exponent.content] }
  }
  const point = parts.find(({ tag }) => tag === EC_PUBLIC_KEY)
  if (!isSigningCurve(curve) || point === undefined) return undefined
  return { algorithm: `${kind} ${curve}`, numbers: [bitsOf(readElement(point.content).content)] }
}

const withoutSign = (number: Uint8Array): Uint8Array => (number[0] === 0 ? number.subarray(1) : number)

/** The bits behind the number of unused bits. */
const bitsOf = (bitString: Uint8Array): Uint8Array => bitString.subarray(1)

/** @throws RangeError, TypeError where the key or the certificate cannot be read */
export function isKeyOf(key: Uint8Array, { publicKey }: Pick<Certificate, 'publicKey'>): boolean {
  const own = publicHalfOf(key)
  const [, bits] = elements(readElement(publicKey).content)
  if (own === undefined || bits === undefined) return false
  const [kind = '', curve = ''] = keyAlgorithm(publicKey)
  const named = bitsOf(bits.content)
  const isRsa = kind === RSA_KEY
  if (own.algorithm !== (isRsa ? kind : `${kind} ${curve}`)) return false
  const numbers = isRsa ? elements(readElement(named).content).map(({ content }) => content) : [named]
  return own.numbers.length === numbers.length && own.numbers.every((one, at) => sameBytes(one, numbers[at]!))
}

/** Signs with the key and verifies with the certificate, because a key may contain a false public key. */
export async function signsFor(key: Uint8Array, { publicKey }: Pick<Certificate, 'publicKey'>): Promise<boolean> {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  try {
    const signer = await signerOf(key)
    return await isSignedBy({ bytes, algorithm: signer.name, signature: await signer.sign(bytes) }, publicKey)
  } catch {
    return false
  }
}
