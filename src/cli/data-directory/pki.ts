// The keys and certificates of a data directory. They are made on the first start, and renewed when they are about to
// expire.
import { X509Certificate, createPrivateKey, createPublicKey, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { KUBELET_CLIENT } from '../../authentication/client-certificate.ts'
import { REQUEST_HEADERS } from '../../request/request-header-names.ts'
import { SYSTEM_MASTERS } from '../../request/user-info.ts'
import { addressOctets, createAuthority, issue } from './certificate.ts'
import type { Credential, Leaf } from './certificate.ts'
import { KeyFiles } from './key-files.ts'
import { makePrivateDirectory } from './make-directory.ts'
import { AUTHORITY_DAYS, authorities, authorityBundle, finishSwitch, noteStarted } from './rotate-authority.ts'
import type { AuthorityName } from './rotate-authority.ts'
import { RETIRED_KEYS, createServiceAccountKey } from './service-account-key.ts'

export interface Pki {
  /** Signs the server's certificate and clients' certificates. */
  readonly authority: Credential
  /** PEM of this authority, and of those that are trusted beside it during a rotation. */
  readonly authorities: string
  readonly server: Credential
  /** Signs certificates of front proxies, which may name the user of a request. */
  readonly frontProxyAuthority: Credential
  /** PEM of this authority, and of those that are trusted beside it during a rotation. */
  readonly frontProxyAuthorities: string
  /** CN=front-proxy-client: this server as the front proxy of aggregated APIs. */
  readonly frontProxy: Credential
  /** CN=kube-apiserver-kubelet-client, O=system:masters: this server as a client of kubelets. */
  readonly kubeletClient: Credential
  /** CN=kubernetes-admin, O=system:masters. */
  readonly administrator: Credential
  /** Bearer token of the same user. */
  readonly administratorToken: string
  /**
   * The private JWK (JSON text) that signs ServiceAccount tokens with RS256, the algorithm that kube-apiserver
   * announces.
   */
  readonly serviceAccountKey: string
  /** JWKS (JSON text) of the former keys (service-account-key.ts). */
  readonly retiredServiceAccountKeys: string | undefined
}

const LEAF_DAYS = 365
const RENEW_WITHIN_DAYS = 60
const DAY = 86_400_000

/** @param names DNS names and addresses that the server's certificate must cover */
export async function openPki(directory: string, names: readonly string[], now: Date): Promise<Pki> {
  makePrivateDirectory(directory)
  const files = new KeyFiles(directory)
  const serviceAccountKey = files.text('service-account.jwk') ?? createServiceAccountKey()
  const authorityOf = async (name: AuthorityName, leaf: string): Promise<Credential> => {
    finishSwitch(directory, name)
    return (
      wholeAuthority(files, name, leaf, now) ??
      files.keep(name, await createAuthority(authorities[name], now, AUTHORITY_DAYS))
    )
  }
  const authority = await authorityOf('ca', 'admin')
  const frontProxyAuthority = await authorityOf('front-proxy-ca', 'front-proxy-client')
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
  noteStarted(directory)
  return {
    authority,
    authorities: authorityBundle(directory),
    frontProxyAuthority,
    frontProxyAuthorities: authorityBundle(directory, 'front-proxy-ca'),
    frontProxy: await leafOf(frontProxyAuthority, 'front-proxy-client', client(REQUEST_HEADERS.allowedNames[0])),
    kubeletClient: await leaf('apiserver-kubelet-client', client(KUBELET_CLIENT, SYSTEM_MASTERS)),
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

/**
 * The authority of the directory; undefined where there is none yet. A first start that was interrupted leaves its key
 * alone. Elsewhere one file without the other is a loss: a new authority would take the place of what is left, and end
 * all certificates that clients and kubelets have of the old one.
 * @param leaf a certificate that a start makes after the authority
 * @throws Error where one of both files is missing, or no authority at this time
 */
function wholeAuthority(files: KeyFiles, name: AuthorityName, leaf: string, now: Date): Credential | undefined {
  const kept = files.credential(name)
  if (kept !== undefined) return checkedAuthority(files, name, kept, now)
  const [hasCertificate, hasKey, hasLeaf] = [`${name}.crt`, `${name}.key`, `${leaf}.crt`].map(
    (file) => files.text(file) !== undefined,
  )
  if (!hasCertificate && !(hasKey && hasLeaf)) return undefined
  const [here, missing] = hasCertificate ? ['crt', 'key'] : ['key', 'crt']
  throw new Error(
    `${files.path(`${name}.${here}`)} has no ${name}.${missing} beside it. Put it back, or remove both: then a start makes a new CA, and certificates of the old one end.`,
  )
}

/** @throws Error that names the file which is damaged or of another time */
function checkedAuthority(files: KeyFiles, name: AuthorityName, kept: Credential, now: Date): Credential {
  const [file, keyFile] = [files.path(`${name}.crt`), files.path(`${name}.key`)]
  const certificate = orNot(() => new X509Certificate(kept.certificate))
  if (certificate === undefined) throw new Error(`${file} is no certificate in PEM. ${PUT_BACK}`)
  if (!isKeyOf(certificate, kept.key)) throw new Error(`${keyFile} is not the key of ${name}.crt. ${PUT_BACK}`)
  if (!isValidAt(certificate, now.getTime()))
    throw new Error(
      `${file} is valid from ${certificate.validFrom} to ${certificate.validTo}, and now it is ${now.toUTCString()}. ` +
        `Where the clock is right, "kedge keys rotate --${name} begin", then "switch", makes another.`,
    )
  return kept
}

const PUT_BACK = 'Put the right one back, as from a copy of the data directory.'

const isKeyOf = (certificate: X509Certificate, key: string): boolean =>
  orNot(() => certificate.checkPrivateKey(createPrivateKey(key))) ?? false

const isValidAt = ({ validFrom, validTo }: X509Certificate, time: number): boolean =>
  Date.parse(validFrom) <= time && time < Date.parse(validTo)

function orNot<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Whether this authority issued it for all these names, it is valid now and for some time, and the key is its own. */
function isGood(credential: Credential, authority: Credential, names: readonly string[], now: Date): boolean {
  const certificate = orNot(() => new X509Certificate(credential.certificate))
  return (
    certificate !== undefined &&
    (orNot(() => certificate.verify(createPublicKey(authority.certificate))) ?? false) &&
    isKeyOf(certificate, credential.key) &&
    [now.getTime(), now.getTime() + RENEW_WITHIN_DAYS * DAY].every((time) => isValidAt(certificate, time)) &&
    names.every((name) => (isIP(name) ? hasAddress(certificate, name) : certificate.checkHost(name)))
  )
}

function hasAddress(certificate: X509Certificate, address: string): boolean {
  const wanted = addressOctets(address).join()
  const addresses = [...(certificate.subjectAltName ?? '').matchAll(/IP Address:([0-9A-Fa-f.:]+)/g)]
  return addresses.some(([, found = '']) => addressOctets(found).join() === wanted)
}
