/** The keys of ServiceAccounts' tokens, and what the OIDC discovery documents tell of them. */
import { settingsOf } from '../settings.ts'
import type { CryptoKey, JWK } from 'jose'
import { lazy } from '../api/lazy.ts'
import { algorithmOf } from '../x509/private-jwk.ts'
import type { Env } from '../env.ts'

/** What reads and writes signatures, which only these tokens need. */
export const jwt = lazy(() => import('./jwt.ts'))

/** The issuer is also the audience that stands for this server. */
export const tokenIssuer = (env: Env): string => settingsOf(env).issuer

export interface VerificationKey {
  readonly algorithm: string
  readonly keyId: string
  readonly verify: CryptoKey
  /** As published under /openid/v1/jwks. */
  readonly publicJwk: JWK
}

export interface ServiceAccountKey extends VerificationKey {
  readonly sign: CryptoKey
}

let cached: { readonly text: string; readonly key: ServiceAccountKey } | undefined

/** Undefined where the server has none: it neither issues nor takes tokens then. */
export async function serviceAccountKey(env: Env): Promise<ServiceAccountKey | undefined> {
  const { serviceAccountKey: text } = settingsOf(env)
  if (text === undefined) return undefined
  if (cached?.text !== text) cached = { text, key: await keyOf(text) }
  return cached.key
}

let retired: { readonly text: string; readonly keys: Promise<readonly VerificationKey[]> } | undefined

/** The key that signs, and those that signed before, whose tokens live until they end. */
export async function verificationKeys(env: Env): Promise<readonly VerificationKey[]> {
  const current = await serviceAccountKey(env)
  const { retiredServiceAccountKeys: text } = settingsOf(env)
  if (text === undefined) return current === undefined ? [] : [current]
  if (retired?.text !== text) retired = { text, keys: retiredKeys(text) }
  const others = await retired.keys
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
  const jwk = JSON.parse(text) as JWK // a setting, which the operator wrote
  const algorithm = algorithmOf(jwk)
  const publicJwk = publicPart({ ...jwk, alg: algorithm, use: 'sig' })
  const [sign, verify] = await Promise.all([imported(jwk, algorithm), imported(publicJwk, algorithm)])
  return { algorithm, keyId: jwk.kid ?? '', sign, verify, publicJwk }
}

/** In the order in which kube-apiserver writes them. */
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
