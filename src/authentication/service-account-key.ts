/** The keys of ServiceAccount tokens, and their OIDC discovery documents. */
import { settingsOf } from '../settings.ts'
import type { CryptoKey, JWK } from 'jose'
import { base64ToBytes } from '../base/base64.ts'
import { lazy } from '../base/lazy.ts'
import { algorithmOf } from '../x509/private-jwk.ts'
import { readPublicKey } from '../x509/public-key.ts'
import type { Env } from '../env.ts'

/** The code for signatures, which only tokens need. */
export const jwt = lazy(() => import('./jwt.ts'))

/** The issuer of new tokens. */
export const tokenIssuer = (env: Env): string => settingsOf(env).issuers[0]

/** Whether tokens of the issuer count as this server's: it is the present or a former one. */
export const isOwnIssuer = (env: Env, issuer: string): boolean =>
  // few: of the server's own setting
  settingsOf(env).issuers.includes(issuer)

/** The audiences of a token for this server. */
export const serverAudiences = (env: Env): readonly string[] => settingsOf(env).audiences

export interface VerificationKey {
  readonly algorithm: string
  readonly keyId: string
  readonly verify: CryptoKey
  /** As it is published under /openid/v1/jwks. */
  readonly publicJwk: JWK
}

export interface ServiceAccountKey extends VerificationKey {
  readonly sign: CryptoKey
}

let cached: { readonly text: string; readonly key: ServiceAccountKey } | undefined

/** Undefined where the server has no key. It then neither issues nor accepts these tokens. */
export async function serviceAccountKey(env: Env): Promise<ServiceAccountKey | undefined> {
  const { serviceAccountKey: text } = settingsOf(env)
  if (text === undefined) return undefined
  if (cached?.text !== text) cached = { text, key: await keyOf(text) }
  return cached.key
}

let retired: { readonly text: string; readonly keys: readonly VerificationKey[] } | undefined

/** The signing key and earlier keys, whose tokens stay valid until they expire. */
export async function verificationKeys(env: Env): Promise<readonly VerificationKey[]> {
  const current = await serviceAccountKey(env)
  const { retiredServiceAccountKeys: text } = settingsOf(env)
  if (text === undefined) return current === undefined ? [] : [current]
  let others = retired?.text === text ? retired.keys : undefined
  if (others === undefined) retired = { text, keys: (others = await retiredKeys(text)) }
  return current === undefined ? others : [current, ...others.filter(({ keyId }) => keyId !== current.keyId)]
}

function retiredKeys(text: string): Promise<readonly VerificationKey[]> {
  const { keys } = JSON.parse(text) as { keys: JWK[] } // settings.ts checked it
  return Promise.all(
    keys.map(async (jwk) => {
      const algorithm = algorithmOf(jwk)
      const publicJwk = publicPart({ ...jwk, alg: algorithm, use: 'sig' })
      return { algorithm, keyId: jwk.kid ?? '', verify: await imported(publicJwk, algorithm), publicJwk }
    }),
  )
}

async function keyOf(text: string): Promise<ServiceAccountKey> {
  const jwk = JSON.parse(text) as JWK // a setting of the operator
  const algorithm = algorithmOf(jwk)
  const publicJwk = publicPart({ ...jwk, alg: algorithm, use: 'sig' })
  const [sign, verify] = await Promise.all([imported(jwk, algorithm), imported(publicJwk, algorithm)])
  return { algorithm, keyId: jwk.kid ?? '', sign, verify, publicJwk }
}

/**
 * @param spki base64 of a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7)
 * @returns undefined where it is no key for tokens
 */
export async function keyOfSpki(spki: string, keyId: string): Promise<VerificationKey | undefined> {
  try {
    const der = new Uint8Array(base64ToBytes(spki))
    const key = readPublicKey(der)
    const own =
      key.kind === 'EC'
        ? { name: 'ECDSA', namedCurve: key.curve ?? '' }
        : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    const jwk = (await crypto.subtle.exportKey(
      'jwk',
      await crypto.subtle.importKey('spki', der, own, true, ['verify']),
    )) as JWK // the requested format
    // WebCrypto needs RSA's parameters with the hash above
    const algorithm = algorithmOf({ crv: jwk.crv ?? '' })
    const publicJwk = publicPart({ ...jwk, alg: algorithm, use: 'sig', kid: keyId })
    return { algorithm, keyId, verify: await imported(publicJwk, algorithm), publicJwk }
  } catch {
    return undefined
  }
}

/** Members in the order in which kube-apiserver writes them. */
function publicPart({ use, kty, kid, alg, crv, x, y, n, e }: JWK): JWK {
  const all = { use, kty, kid, crv, alg, x, y, n, e }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

async function imported(jwk: JWK, algorithm: string): Promise<CryptoKey> {
  const { importJWK } = await jwt()
  const key = await importJWK(jwk, algorithm)
  if (key instanceof Uint8Array) throw new Error('KEDGE_SA_KEY must be an asymmetric key')
  return key
}
