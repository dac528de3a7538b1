// A client's certificate in the form in which Cloudflare gives it to a Worker (`request.cf.tlsClientAuth`).
import type { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { MAX_INTERMEDIATES } from '../x509/client-chain.ts'

export interface TlsClientAuth {
  readonly certPresented: '1'
  /** 'SUCCESS', or 'FAILED:' and the reason. */
  readonly certVerified: string
  /** Like kube-apiserver, this server has no list of revoked certificates. */
  readonly certRevoked: '0'
  /** DER in base64 between colons. */
  readonly certRFC9440: string
  /** The authorities that the client sent, likewise, with commas; empty without any. */
  readonly certChainRFC9440: string
}

/** Undefined where the client has presented none. */
export function tlsClientAuth(socket: TLSSocket): TlsClientAuth | undefined {
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return undefined
  return {
    certPresented: '1',
    // despite its type, Node's property has the code of the reason
    certVerified: socket.authorized ? 'SUCCESS' : `FAILED:${String(socket.authorizationError)}`,
    certRevoked: '0',
    certRFC9440: byteSequence(certificate),
    certChainRFC9440: authoritiesOf(certificate).map(byteSequence).join(', '),
  }
}

/** RFC 9440, section 2.1. */
const byteSequence = ({ raw }: X509Certificate): string => `:${raw.toString('base64')}:`

function authoritiesOf(certificate: X509Certificate): X509Certificate[] {
  const found: X509Certificate[] = []
  let next = certificate.issuerCertificate
  // skips a root, which Node may add: the Worker has its own
  while (next !== undefined && next.subject !== next.issuer && found.length < MAX_INTERMEDIATES) {
    found.push(next)
    next = next.issuerCertificate
  }
  return found
}
