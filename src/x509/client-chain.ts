/**
 * Whether a chain of certificates ends in an authority and its leaf may be a TLS client (RFC 5280, section 6), with
 * the choices of Go's crypto/x509. A certificate with a critical extension that this file does not know is refused.
 */
import { leastOf, mostOf } from '../api/extremes.ts'
import type { Certificate } from './certificate.ts'
import { readCertificate } from './certificate.ts'
import { elements, readElement, readObjectIdentifier, TAG } from './der.ts'
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
    if (presented.length > MAX_INTERMEDIATES + 1 || !mayBeClient(leaf) || !maySignHandshake(leaf)) return undefined
    const path = await pathOf([leaf], intermediates, authorities)
    if (path === undefined) return undefined
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
    if (maySign(authority, below) && (await isIssuedBy(last, authority))) return [...path, authority]
  for (const authority of intermediates) {
    if (!maySign(authority, below) || !mayBeClient(authority) || !(await isIssuedBy(last, authority))) continue
    return pathOf(
      [...path, authority],
      // few: the parser bounds the certificates of a chain
      intermediates.filter((other) => other !== authority),
      authorities,
    )
  }
  return undefined
}

async function isIssuedBy(certificate: Certificate, authority: Certificate): Promise<boolean> {
  return sameBytes(certificate.issuer, authority.subject) && isSignedBy(certificate.signed, authority.publicKey)
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index])

const KEY_USAGE = '2.5.29.15'
const ALTERNATIVE_NAME = '2.5.29.17'
const BASIC_CONSTRAINTS = '2.5.29.19'
const POLICIES = '2.5.29.32'
const EXTENDED_KEY_USAGE = '2.5.29.37'
const known = new Set([KEY_USAGE, ALTERNATIVE_NAME, BASIC_CONSTRAINTS, POLICIES, EXTENDED_KEY_USAGE])

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const ANY_PURPOSE = '2.5.29.37.0'
/** Bits of the key usage extension. */
const DIGITAL_SIGNATURE = 0
const KEY_AGREEMENT = 4
const CERT_SIGN = 5

const valueOf = ({ extensions }: Certificate, wanted: string): Uint8Array | undefined =>
  extensions.find(({ type }) => type === wanted)?.value

/** A certificate without extended key usage may serve any purpose (4.2.1.12). */
function mayBeClient(certificate: Certificate): boolean {
  if (certificate.extensions.some(({ type, isCritical }) => isCritical && !known.has(type))) return false
  if (new Set(certificate.extensions.map(({ type }) => type)).size < certificate.extensions.length) return false
  const value = valueOf(certificate, EXTENDED_KEY_USAGE)
  if (value === undefined) return true
  const purposes = elements(readElement(value).content).map(({ content }) => readObjectIdentifier(content))
  return purposes.includes(CLIENT_AUTH) || purposes.includes(ANY_PURPOSE)
}

/** In the handshake a client signs with its key. */
function maySignHandshake(certificate: Certificate): boolean {
  const usage = valueOf(certificate, KEY_USAGE)
  if (usage === undefined) return true
  const bits = readElement(usage).content
  return hasBit(bits, DIGITAL_SIGNATURE) || hasBit(bits, KEY_AGREEMENT)
}

/** @param below the number of authorities between the certificate and the leaf */
function maySign(certificate: Certificate, below: number): boolean {
  const constraints = valueOf(certificate, BASIC_CONSTRAINTS)
  if (constraints === undefined) return false
  const [flag, pathLength] = elements(readElement(constraints).content)
  if (flag?.tag !== TAG.boolean || flag.content[0] !== 0xff) return false
  if (pathLength !== undefined && below > pathLength.content.reduce((sum, byte) => sum * 256 + byte, 0)) return false
  const usage = valueOf(certificate, KEY_USAGE)
  return usage === undefined || hasBit(readElement(usage).content, CERT_SIGN)
}

/** @param bits content of a bit string, whose first byte is the number of unused bits */
const hasBit = (bits: Uint8Array, bit: number): boolean => ((bits[1 + (bit >> 3)] ?? 0) & (0x80 >> (bit & 7))) !== 0
