/** Settings with keys and certificates. */
import * as z from 'zod/mini'
import { base64ToBytes } from '../base/base64.ts'
import type { EncryptionKey } from '../storage/encryption/encryption-setting.ts'
import { readAuthorities } from '../x509/client-chain.ts'
import { publicHalfOf } from '../x509/key-pair.ts'
import { pemBlocks } from '../x509/pem.ts'
import { privateJwk } from '../x509/private-jwk.ts'
import { setting } from './setting.ts'

export const authority = setting('must be certificates in PEM', (text) =>
  readAuthorities(text).length > 0 ? text : undefined,
)

export const privateKey = setting(
  'must be one private key in PEM (PKCS #8): RSA of at least 2048 bits, or EC on P-256, P-384 or P-521 with its public key',
  (text) => {
    const [block, ...more] = pemBlocks(text)
    const isKey = block?.type === 'PRIVATE KEY' && more.length === 0 && publicHalfOf(block.bytes) !== undefined
    return isKey ? text : undefined
  },
)

/** The length of 2048 bits in base64url. */
const SHORTEST_MODULUS = 342
const publicJwk = z.union([
  z.object({
    kty: z.literal('RSA'),
    kid: z.string(),
    n: z.string().check(z.minLength(SHORTEST_MODULUS)),
    e: z.string(),
  }),
  z.object({ kty: z.literal('EC'), kid: z.string(), crv: z.string(), x: z.string(), y: z.string() }),
])
const MAX_RETIRED = 32

/** These keys only verify. The setting is no secret, so a private key in it is refused. */
export const retiredKeys = setting('must be a JWKS of public keys with ids, 32 at most', (text) => {
  const { keys } = z.object({ keys: z.array(z.looseObject({})) }).parse(JSON.parse(text))
  const fit = keys.every((key) => publicJwk.safeParse(key).success && key['d'] === undefined)
  return fit && keys.length <= MAX_RETIRED ? text : undefined
})

export const serviceAccountKey = setting(
  'must be a private JWK, whole: RSA of at least 2048 bits, or EC on P-256, P-384 or P-521; its alg must fit',
  (text) => (privateJwk.safeParse(JSON.parse(text)).success ? text : undefined),
)

const KEY_BYTES = 32
export const encryptionKeys = setting(
  'must be ID:BASE64 of 32 bytes, with commas between, under different names; identity first stores in the open',
  (text) => {
    const [first, ...others] = text.split(',')
    const keys = (first === 'identity' ? others : text.split(',')).map(encryptionKey)
    const known = keys.filter((key) => key !== undefined)
    const ids = new Set(known.map(({ id }) => id))
    if (keys.length === 0 || ids.size < keys.length) return undefined
    return { sealing: first === 'identity' ? undefined : known[0], keys: known }
  },
)

function encryptionKey(text: string): EncryptionKey | undefined {
  const [, id, secret] = /^([A-Za-z0-9._-]{1,63}):([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  if (id === undefined || secret === undefined || id === 'identity') return undefined
  const bytes = new Uint8Array(base64ToBytes(secret))
  return bytes.length === KEY_BYTES ? { id, secret: bytes } : undefined
}
