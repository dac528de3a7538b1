/** JSON Web Keys (RFC 7517, RFC 7518 §6) that sign the tokens of ServiceAccounts: kinds, lengths and algorithms. */
import { ownValue } from '../base/own.ts'
import * as z from 'zod/mini'

/** A number of so many octets in base64url, always at full length. */
const number = (octets: number) =>
  z.string().check(z.regex(new RegExp(`^[A-Za-z0-9_-]{${Math.ceil((octets * 4) / 3)}}$`)))

/** RSA moduli of 2048 bits or more. */
const modulus = z.string().check(z.regex(/^[A-Za-z0-9_-]{342,}$/))
const some = z.string().check(z.regex(/^[A-Za-z0-9_-]+$/))

const elliptic = <Curve extends string, Algorithm extends string>(crv: Curve, alg: Algorithm, octets: number) =>
  z.object({
    kty: z.literal('EC'),
    crv: z.literal(crv),
    alg: z.optional(z.literal(alg)),
    x: number(octets),
    y: number(octets),
    d: number(octets),
  })

/** Private keys with all members that WebCrypto needs, and the algorithms that kube-apiserver supports. */
export const privateJwk = z.union([
  z.object({
    kty: z.literal('RSA'),
    alg: z.optional(z.enum(['RS256', 'RS384', 'RS512'])),
    n: modulus,
    e: some,
    d: some,
    p: some,
    q: some,
    dp: some,
    dq: some,
    qi: some,
  }),
  elliptic('P-256', 'ES256', 32),
  elliptic('P-384', 'ES384', 48),
  elliptic('P-521', 'ES512', 66),
])

const ofCurves: Readonly<Record<string, string>> = { 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512' }

/** @param key a key of `privateJwk` */
export const algorithmOf = ({ crv = '', alg }: { readonly crv?: string; readonly alg?: string }): string =>
  alg ?? ownValue(ofCurves, crv) ?? 'RS256'

const HASHES: Readonly<Record<string, string>> = { 256: 'SHA-256', 384: 'SHA-384', 512: 'SHA-512' }

/**
 * Whether the private and the public half of a key belong together: one signs, the other verifies.
 * @param text JSON
 */
export async function signsForItself(text: string): Promise<boolean> {
  const key = privateJwk.parse(JSON.parse(text))
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  const hash = ownValue(HASHES, algorithmOf(key).slice(2)) ?? ''
  const isRsa = key.kty === 'RSA'
  const algorithm = isRsa ? { name: 'RSASSA-PKCS1-v1_5', hash } : { name: 'ECDSA', namedCurve: key.crv, hash }
  const publicHalf = isRsa ? { kty: 'RSA', n: key.n, e: key.e } : { kty: 'EC', crv: key.crv, x: key.x, y: key.y }
  try {
    const [own, theirs] = await Promise.all([
      crypto.subtle.importKey('jwk', key, algorithm, false, ['sign']),
      crypto.subtle.importKey('jwk', publicHalf, algorithm, false, ['verify']),
    ])
    return await crypto.subtle.verify(algorithm, theirs, await crypto.subtle.sign(algorithm, own, bytes), bytes)
  } catch {
    return false
  }
}
