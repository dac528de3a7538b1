// The keys and certificates of a data directory: made on first start, renewed when they are about to expire.
import { X509Certificate, createHash, createPublicKey, generateKeyPair, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod/mini'
import { REQUEST_HEADERS } from '../request/request-header-names.ts'
import { SYSTEM_MASTERS } from '../request/user-info.ts'
import { addressOctets, createAuthority, issue } from './certificate.ts'
import type { Credential, Leaf, Subject } from './certificate.ts'

export interface Pki {
  /** Signs the server's certificate and clients' certificates. */
  readonly authority: Credential
  readonly server: Credential
  /** Signs certificates of front proxies, who may say for whom they ask. */
  readonly frontProxyAuthority: Credential
  /** CN=front-proxy-client: this server as the front proxy of aggregated APIs. */
  readonly frontProxy: Credential
  /** CN=kube-apiserver-kubelet-client, O=system:masters: this server as a client of kubelets. */
  readonly kubeletClient: Credential
  /** CN=kubernetes-admin, O=system:masters. */
  readonly administrator: Credential
  /** Bearer token of the same user. */
  readonly administratorToken: string
  /** Private JWK (JSON text) that signs service-account tokens: RS256, the algorithm that kube-apiserver announces. */
  readonly serviceAccountKey: string
  /** JWKS (JSON text) of the keys that did so before (rotate-keys.ts). */
  readonly retiredServiceAccountKeys: string | undefined
}

const AUTHORITY: Subject = { commonName: 'kubernetes' } // as clusters name it; certificates that the API signs show it
const FRONT_PROXY_AUTHORITY: Subject = { commonName: 'front-proxy-ca' }
const AUTHORITY_DAYS = 3650
const LEAF_DAYS = 365
const RENEW_WITHIN_DAYS = 60
const DAY = 86_400_000

/** `names`: DNS names and addresses that the server's certificate must cover. */
export async function openPki(directory: string, names: readonly string[], now: Date): Promise<Pki> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const files = new Files(directory)
  const serviceAccountKey = files.text('service-account.jwk') ?? createServiceAccountKey()
  const authority = files.credential('ca') ?? files.keep('ca', await createAuthority(AUTHORITY, now, AUTHORITY_DAYS))
  const frontProxyAuthority =
    files.credential('front-proxy-ca') ??
    files.keep('front-proxy-ca', await createAuthority(FRONT_PROXY_AUTHORITY, now, AUTHORITY_DAYS))
  const leafOf = async (signer: Credential, name: string, leaf: Leaf): Promise<Credential> => {
    const kept = files.credential(name)
    return kept && isGood(kept, signer, leaf.names ?? [], now) ? kept : files.keep(name, await issue(signer, leaf, now))
  }
  const leaf = (name: string, leaf: Leaf): Promise<Credential> => leafOf(authority, name, leaf)
  const client = (commonName: string, ...organizations: string[]): Leaf => ({
    subject: { commonName, organizations },
    usage: 'client',
    days: LEAF_DAYS,
  })
  return {
    authority,
    frontProxyAuthority,
    frontProxy: await leafOf(frontProxyAuthority, 'front-proxy-client', client(REQUEST_HEADERS.allowedNames[0])),
    kubeletClient: await leaf('apiserver-kubelet-client', client('kube-apiserver-kubelet-client', SYSTEM_MASTERS)),
    server: await leaf('server', {
      subject: { commonName: 'kube-apiserver' },
      usage: 'server',
      names,
      days: LEAF_DAYS,
    }),
    administrator: await leaf('admin', client('kubernetes-admin', SYSTEM_MASTERS)),
    administratorToken: files.text('admin.token') ?? files.write('admin.token', randomBytes(32).toString('base64url')),
    serviceAccountKey:
      typeof serviceAccountKey === 'string'
        ? serviceAccountKey
        : files.write('service-account.jwk', await serviceAccountKey),
    retiredServiceAccountKeys: files.text(RETIRED_KEYS),
  }
}

const RETIRED_KEYS = 'service-account.retired.jwks'
/** As many as the server takes (KEDGE_SA_RETIRED_KEYS). */
const MAX_RETIRED = 32

/**
 * Has ServiceAccounts' tokens signed with a new key from the next start on. What the old one signed is good until it
 * ends: its public half stays.
 * @returns the ids of the keys, new and old, and of the one that is dropped where there are too many
 */
export async function rotateServiceAccountKey(
  directory: string,
): Promise<{ readonly made: string; readonly retired: string; readonly dropped: string | undefined }> {
  const files = new Files(directory)
  const text = files.text('service-account.jwk')
  if (text === undefined) throw new Error(`There is no key in ${directory} yet: "kedge start" makes one.`)
  const { kty, kid, crv, alg, x, y, n, e } = jwk.parse(JSON.parse(text))
  const before = jwks.parse(JSON.parse(files.text(RETIRED_KEYS) ?? '{"keys":[]}')).keys
  const keys = [{ use: 'sig', kty, kid, crv, alg, x, y, n, e }, ...before]
  const made = await createServiceAccountKey()
  // in this order: a key that signs no more and is not retired would be lost
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

/** Issued by this authority, for all these names, and valid for a while yet. */
function isGood(credential: Credential, authority: Credential, names: readonly string[], now: Date): boolean {
  try {
    const certificate = new X509Certificate(credential.certificate)
    return (
      certificate.verify(createPublicKey(authority.certificate)) &&
      Date.parse(certificate.validTo) - now.getTime() > RENEW_WITHIN_DAYS * DAY &&
      names.every((name) => (isIP(name) ? hasAddress(certificate, name) : certificate.checkHost(name)))
    )
  } catch {
    return false
  }
}

function hasAddress(certificate: X509Certificate, address: string): boolean {
  const wanted = addressOctets(address).join()
  const addresses = [...(certificate.subjectAltName ?? '').matchAll(/IP Address:([0-9A-Fa-f.:]+)/g)]
  return addresses.some(([, found = '']) => addressOctets(found).join() === wanted)
}

async function createServiceAccountKey(): Promise<string> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  // As kube-apiserver names its keys: the hash of the public key.
  const kid = createHash('sha256').update(spki).digest('base64url')
  return JSON.stringify({ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid })
}

/** Files that only their owner can read, replaced in one step. */
class Files {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  text(name: string): string | undefined {
    try {
      return readFileSync(join(this.#directory, name), 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  write(name: string, text: string): string {
    const path = join(this.#directory, name)
    writeFileSync(`${path}.new`, text, { mode: 0o600 })
    renameSync(`${path}.new`, path)
    return text
  }

  credential(name: string): Credential | undefined {
    const [certificate, key] = [this.text(`${name}.crt`), this.text(`${name}.key`)]
    return certificate === undefined || key === undefined ? undefined : { certificate, key }
  }

  keep(name: string, credential: Credential): Credential {
    this.write(`${name}.key`, credential.key)
    this.write(`${name}.crt`, credential.certificate)
    return credential
  }
}
