/**
 * Whether a chain of certificates ends in an authority and its leaf may be a TLS client (RFC 5280, section 6), with
 * the choices of Go's crypto/x509: a certificate among the authorities is trusted itself.
 */
import { sameBytes } from '../base/bytes.ts'
import { leastOf, mostOf } from '../base/extremes.ts'
import type { Certificate } from './certificate.ts'
import { readCertificate } from './certificate.ts'
import { checkExtensions, isUnconstrained, mayBeClient, maySign } from './certificate-extensions.ts'
import { readElement } from './der.ts'
import { pemBlocks } from './pem.ts'
import { isSignedBy } from './signature.ts'

export interface ValidChain {
  readonly leaf: Certificate
  /** Milliseconds since 1970. All certificates of the chain are valid between notBefore and notAfter. */
  readonly notBefore: number
  readonly notAfter: number
}

/** A client sends its certificate and the authorities between it and the root. Real chains are not longer. */
export const MAX_INTERMEDIATES = 4

/**
 * The certificates of a PEM bundle.
 * @throws where one cannot be read, or the bundle has none
 */
export function readAuthorities(pem: string): Certificate[] {
  const blocks = pemBlocks(pem).filter(({ type }) => type === 'CERTIFICATE')
  if (blocks.length === 0) throw new TypeError('a bundle of authorities without a certificate')
  return blocks.map(({ bytes }) => readCertificate(bytes))
}

/**
 * Undefined where there is no such chain, or where it is not valid now.
 * @param presented DER, the client's own certificate first
 */
export async function validClientChain(
  presented: readonly Uint8Array[],
  authorities: readonly Certificate[],
  now: Date,
): Promise<ValidChain | undefined> {
  try {
    const [leaf, ...intermediates] = presented.slice(0, MAX_INTERMEDIATES + 1).map(readWhole)
    if (leaf === undefined) return undefined
    if (presented.length > MAX_INTERMEDIATES + 1) return undefined
    if (!mayBeClient(leaf)) return undefined
    const isTrusted = authorities.some((authority) => isSame(authority, leaf))
    const path = isTrusted ? [leaf] : await pathOf([leaf], intermediates, authorities)
    if (path === undefined || !isUnconstrained(path)) return undefined
    path.forEach(checkExtensions)
    const notBefore = mostOf(path.map((certificate) => certificate.notBefore))
    const notAfter = leastOf(path.map((certificate) => certificate.notAfter))
    // a time that cannot be read is NaN, so the comparison fails
    return notBefore <= now.getTime() && now.getTime() <= notAfter ? { leaf, notBefore, notAfter } : undefined
  } catch {
    return undefined // a chain that cannot be read is not valid
  }
}

function readWhole(der: Uint8Array): Certificate {
  if (readElement(der).whole.length !== der.length) throw new RangeError('octets behind a certificate')
  return readCertificate(der)
}

/**
 * The path from the leaf to an authority; each certificate is signed by the next one. The search uses each
 * certificate once, so it ends.
 */
async function pathOf(
  path: readonly Certificate[],
  intermediates: readonly Certificate[],
  authorities: readonly Certificate[],
): Promise<readonly Certificate[] | undefined> {
  const last = path.at(-1)!
  const below = path.length - 1 // authorities below the next certificate
  for (const authority of authorities)
    if (mayIssueToClients(authority, below) && (await isIssuedBy(last, authority))) return [...path, authority]
  for (const authority of intermediates) {
    if (!mayIssueToClients(authority, below) || !(await isIssuedBy(last, authority))) continue
    return pathOf(
      [...path, authority],
      // few: the parser bounds the certificates of a chain
      intermediates.filter((other) => other !== authority),
      authorities,
    )
  }
  return undefined
}

const mayIssueToClients = (authority: Certificate, below: number): boolean =>
  maySign(authority, below) && mayBeClient(authority)

async function isIssuedBy(certificate: Certificate, authority: Certificate): Promise<boolean> {
  return sameBytes(certificate.issuer, authority.subject) && isSignedBy(certificate.signed, authority.publicKey)
}

const isSame = (a: Certificate, b: Certificate): boolean =>
  sameBytes(a.signed.bytes, b.signed.bytes) && sameBytes(a.signed.signature, b.signed.signature)
