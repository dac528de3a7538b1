// A client's certificate in the form in which Cloudflare gives it to a Worker (`request.cf.tlsClientAuth`).
import { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { MAX_INTERMEDIATES } from '../../x509/client-chain.ts'
import { pemBlocks } from '../../x509/pem.ts'

export interface TlsClientAuth {
  readonly certPresented: '1'
  /** 'SUCCESS', or 'FAILED:' and a reason. */
  readonly certVerified: string
  /** Like kube-apiserver, this server has no list of revoked certificates. */
  readonly certRevoked: '0'
  /** DER in base64 between colons. */
  readonly certRFC9440: string
  /** The authorities that the client sent, likewise, with commas; empty without any. */
  readonly certChainRFC9440: string
}

/**
 * Undefined where the client has presented none. A socket gives the authorities that the client sent only once, so this
 * comes before all that asks for its certificate.
 * @param authorities to one of which a certificate must lead
 */
export function tlsClientAuth(
  socket: TLSSocket,
  authorities: readonly X509Certificate[],
  now = Date.now(),
): TlsClientAuth | undefined {
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return undefined
  const sent = authoritiesOf(certificate)
  return {
    certPresented: '1',
    certVerified: leadsTo(certificate, sent, authorities, now) ? 'SUCCESS' : 'FAILED:UNABLE_TO_VERIFY',
    certRevoked: '0',
    certRFC9440: byteSequence(certificate),
    certChainRFC9440: sent.map(byteSequence).join(', '),
  }
}

/**
 * Whether signatures and times lead to an authority. The engine verifies all of the chain again, so this only keeps
 * strangers' certificates from taking room there. Node's own verdict (`authorized`) refuses certificates for any
 * purpose, which kube-apiserver accepts.
 */
function leadsTo(
  certificate: X509Certificate,
  sent: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  now: number,
): boolean {
  const path = [certificate]
  const rest = new Set(sent)
  for (;;) {
    const last = path.at(-1)!
    if (authorities.some((authority) => isSignedBy(last, authority) || authority.raw.equals(certificate.raw))) break
    const next = [...rest].find((other) => other.ca && last.checkIssued(other))
    if (next === undefined) return false
    rest.delete(next)
    path.push(next)
  }
  // from the authority on, so that no key of a stranger is used
  for (let at = path.length - 2; at >= 0; at--) if (!isSignedBy(path[at]!, path[at + 1]!)) return false
  return path.every(({ validFrom, validTo }) => Date.parse(validFrom) <= now && now <= Date.parse(validTo))
}

function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  try {
    return authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
  } catch {
    return false // a key that OpenSSL cannot use
  }
}

/** The certificates of PEM texts, of which each may hold several. */
export const certificatesIn = (texts: readonly string[]): X509Certificate[] =>
  texts.flatMap((text) => pemBlocks(text).map(({ bytes }) => new X509Certificate(bytes)))

/** RFC 9440, section 2.1. */
const byteSequence = ({ raw }: X509Certificate): string => `:${raw.toString('base64')}:`

function authoritiesOf(certificate: X509Certificate): X509Certificate[] {
  const found: X509Certificate[] = []
  let next = certificate.issuerCertificate
  for (let read = 0; next !== undefined && read <= MAX_INTERMEDIATES; read++) {
    // the engine has the roots
    if (next.subject !== next.issuer && found.length < MAX_INTERMEDIATES) found.push(next)
    next = next.issuerCertificate
  }
  return found
}
