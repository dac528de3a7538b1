// The key that signs ServiceAccount tokens, and its predecessors.
import { createHash, generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import * as z from 'zod/mini'
import { KeyFiles } from './key-files.ts'

export const RETIRED_KEYS = 'service-account.retired.jwks'
/** The most former keys that the server accepts (KEDGE_SA_RETIRED_KEYS). */
const MAX_RETIRED = 32

/**
 * Makes a new key, which signs ServiceAccount tokens from the next start on. Tokens of the old key stay valid until
 * they expire, because its public half is kept.
 * @returns the ids of the new key, of the old one, and of the one that was dropped where there were too many
 */
export async function rotateServiceAccountKey(
  directory: string,
): Promise<{ readonly made: string; readonly retired: string; readonly dropped: string | undefined }> {
  const files = new KeyFiles(directory)
  const text = files.text('service-account.jwk')
  if (text === undefined) throw new Error(`There is no key in ${directory} yet: "kedge start" makes one.`)
  const { kty, kid, crv, alg, x, y, n, e } = jwk.parse(JSON.parse(text))
  const before = jwks.parse(JSON.parse(files.text(RETIRED_KEYS) ?? '{"keys":[]}')).keys
  const keys = [{ use: 'sig', kty, kid, crv, alg, x, y, n, e }, ...before]
  const made = await createServiceAccountKey()
  // in this order, so that no key is lost that neither signs nor is retired
  files.write(RETIRED_KEYS, JSON.stringify({ keys: keys.slice(0, MAX_RETIRED) }))
  files.write('service-account.jwk', made)
  return { made: jwk.parse(JSON.parse(made)).kid, retired: kid, dropped: keys[MAX_RETIRED]?.kid }
}

const part = z.optional(z.string())
const jwk = z.looseObject({
  kty: z.string(),
  kid: z.string(),
  crv: part,
  alg: part,
  x: part,
  y: part,
  n: part,
  e: part,
})
const jwks = z.object({ keys: z.array(jwk) })

export async function createServiceAccountKey(): Promise<string> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  // kube-apiserver's key id: the hash of the public key
  const kid = createHash('sha256').update(spki).digest('base64url')
  return JSON.stringify({ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid })
}
