// The identity in a client's certificate, in the form in which Cloudflare gives it to a Worker (`request.cf.tlsClientAuth`),
// with what Kubernetes needs beside it.
import type { TLSSocket } from 'node:tls'
import type { X509Certificate } from 'node:crypto'

export interface TlsClientAuth {
  readonly certPresented: '1'
  /** 'SUCCESS', or 'FAILED:' and the reason. */
  readonly certVerified: string
  /** RFC 2253, the most specific part first. */
  readonly certSubjectDN: string
  /** Hexadecimal digits in lower case. */
  readonly certFingerprintSHA256: string
  /** The certificate, DER in base64. */
  readonly certRaw: string
  readonly commonName: string
  /** In the certificate's order. */
  readonly organizations: readonly string[]
}

/** Undefined where the client presented none. */
export function tlsClientAuth(socket: TLSSocket): TlsClientAuth | undefined {
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return undefined
  const attributes = subjectAttributes(certificate)
  const named = (type: string): string[] => attributes.filter(([name]) => name === type).map(([, value]) => value)
  return {
    certPresented: '1',
    // Node gives the reason's code here, whatever the types say.
    certVerified: socket.authorized ? 'SUCCESS' : `FAILED:${String(socket.authorizationError)}`,
    certSubjectDN: attributes
      .toReversed()
      .map(([type, value]) => `${type}=${escapeValue(value)}`)
      .join(','),
    certFingerprintSHA256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    certRaw: certificate.raw.toString('base64'),
    commonName: named('CN').at(-1) ?? '',
    organizations: named('O'),
  }
}

/**
 * Node prints one set of attributes a line, `TYPE=value` or `TYPE=value + TYPE=value`, with a backslash before what
 * RFC 2253 escapes.
 */
function subjectAttributes(certificate: X509Certificate): [string, string][] {
  return (certificate.subject ?? '')
    .split(/\n|(?<!\\) \+ /)
    .filter((line) => line.includes('='))
    .map((line) => {
      const equals = line.indexOf('=')
      return [line.slice(0, equals), line.slice(equals + 1).replace(/\\(.)/g, '$1')]
    })
}

function escapeValue(value: string): string {
  return value.replace(/[,+"\\<>;]|^[ #]| $/g, '\\$&')
}
