/** The users that an authority's client certificates name. */
import type { Certificate } from '../x509/certificate.ts'
import { readAuthorities, validClientChain } from '../x509/client-chain.ts'
import { readElement } from '../x509/der.ts'
import { COMMON_NAME, nameAttributes, ORGANIZATION } from '../x509/name.ts'
import { certificateChain, isInForce } from './client-certificate.ts'
import type { ClientCertificate } from './client-certificate.ts'
import type { UserInfo } from '../request/user-info.ts'
import { CREDENTIAL_ID, authenticated } from '../request/user-info.ts'

export interface ClientAuthority {
  /** The user of a certificate that was verified before and is still valid. */
  known(presented: ClientCertificate, now: Date): UserInfo | undefined
  /**
   * Undefined where the certificate is not in force, not of this authority, not for clients, not valid now, without
   * a name, or with an empty UID or several.
   */
  verify(presented: ClientCertificate, now: Date): Promise<UserInfo | undefined>
}

/** By their PEM text, which comes from settings. Bound: an isolate has two. */
const authorities = new Map<string, ClientAuthority>()

/** @param pem absent or empty: there is no authority, so no certificate is accepted */
export function clientAuthority(pem = ''): ClientAuthority | undefined {
  if (pem === '') return undefined
  let authority = authorities.get(pem)
  if (authority === undefined) authorities.set(pem, (authority = createClientAuthority(readAuthorities(pem))))
  return authority
}

interface Verified {
  readonly user: UserInfo
  readonly notBefore: number
  readonly notAfter: number
}

/** The most verified certificates. Only valid ones are kept, and the oldest one goes first. */
const MAX_VERIFIED = 1_000

function createClientAuthority(roots: readonly Certificate[]): ClientAuthority {
  const verified = new Map<string, Verified>()
  const keyOf = ({ certRFC9440 = '', certChainRFC9440 = '' }: ClientCertificate): string =>
    certChainRFC9440 === '' ? certRFC9440 : `${certRFC9440} ${certChainRFC9440}`
  const keep = (key: string, found: Verified): UserInfo => {
    if (verified.size >= MAX_VERIFIED) verified.delete(verified.keys().next().value!)
    verified.set(key, found)
    return found.user
  }
  const known: ClientAuthority['known'] = (presented, now) => {
    if (!isInForce(presented)) return undefined
    const found = verified.get(keyOf(presented))
    const time = now.getTime()
    return found !== undefined && found.notBefore <= time && time <= found.notAfter ? found.user : undefined
  }
  return {
    known,
    async verify(presented, now) {
      if (!isInForce(presented)) return undefined
      const user = known(presented, now)
      if (user !== undefined) return user
      const found = await verifyChain(presented, roots, now)
      return found && keep(keyOf(presented), found)
    },
  }
}

async function verifyChain(
  presented: ClientCertificate,
  roots: readonly Certificate[],
  now: Date,
): Promise<Verified | undefined> {
  try {
    const chain = certificateChain(presented)
    const valid = await validClientChain(chain, roots, now)
    const user = valid && (await userOf(valid.leaf, chain[0]!))
    return user && { user, notBefore: valid.notBefore, notAfter: valid.notAfter }
  } catch {
    return undefined // an unreadable certificate names no user
  }
}

/** The attribute for a user's UID (KEP 5018). */
const UID = '1.3.6.1.4.1.57683.2'

/** Reads the names from the signed certificate itself, never from a text that another process made of it. */
async function userOf({ subject }: Certificate, der: Uint8Array): Promise<UserInfo | undefined> {
  const attributes = nameAttributes(readElement(subject).content)
  const named = (wanted: string): string[] => attributes.filter(([type]) => type === wanted).map(([, value]) => value)
  const name = named(COMMON_NAME).at(-1) ?? ''
  const uids = named(UID)
  if (name === '' || uids.length > 1 || uids.includes('')) return undefined
  return authenticated({
    name,
    uid: uids[0] ?? '',
    groups: named(ORGANIZATION),
    extra: { [CREDENTIAL_ID]: [`X509SHA256=${await fingerprint(der)}`] },
  })
}

async function fingerprint(der: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', der))
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
