/**
 * Client certificates, checked by whoever ends TLS and handed over as `request.cf.tlsClientAuth`: Cloudflare's edge, or
 * the local server's front, which adds the names that Kubernetes reads.
 */
import type { UserInfo } from './user-info.ts'
import { CREDENTIAL_ID, authenticated } from './user-info.ts'

export interface ClientCertificate {
  /** '1' when there is one. */
  readonly certPresented?: string
  /** 'SUCCESS', 'NONE', or 'FAILED:' and the reason. */
  readonly certVerified?: string
  /** RFC 2253 or OpenSSL's form, the most specific part first. */
  readonly certSubjectDN?: string
  readonly certSubjectDNRFC2253?: string
  /** Hexadecimal digits. */
  readonly certFingerprintSHA256?: string
  /** DER in base64. */
  readonly certRaw?: string
  readonly commonName?: string
  readonly organizations?: readonly string[]
}

export function presentedCertificate(request: Request): ClientCertificate | undefined {
  // the platform's type knows less than the local front hands over
  const cf = request.cf as { readonly tlsClientAuth?: ClientCertificate } | undefined
  const certificate = cf?.tlsClientAuth
  return certificate?.certPresented === '1' ? certificate : undefined
}

/** Undefined: not signed by an authority of this server, or without a name. */
export function certificateUser(certificate: ClientCertificate): UserInfo | undefined {
  if (certificate.certVerified !== 'SUCCESS') return undefined
  const { commonName, organizations, uid } = certificateNames(certificate)
  if (commonName === '') return undefined
  const fingerprint = certificate.certFingerprintSHA256
  return authenticated({
    name: commonName,
    uid,
    groups: organizations,
    extra: fingerprint === undefined ? {} : { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint.toLowerCase()}`] },
  })
}

/** Attribute for a user's UID (KEP 5018), as names in a subject show it. */
const UID_ATTRIBUTE = '1.3.6.1.4.1.57683.2'

function certificateNames(certificate: ClientCertificate) {
  const attributes = subjectAttributes(certificate.certSubjectDNRFC2253 ?? certificate.certSubjectDN ?? '')
  const named = (type: string) => attributes.filter(([name]) => name === type).map(([, value]) => value)
  return {
    commonName: certificate.commonName ?? named('CN').at(-1) ?? '',
    organizations: certificate.organizations ?? named('O'),
    uid: named(UID_ATTRIBUTE).at(0) ?? '',
  }
}

/** `CN=a,O=b\, c` with the most specific part first, as pairs in the certificate's own order. */
function subjectAttributes(subject: string): [name: string, value: string][] {
  const parts = subject.match(/(?:\\.|[^,+\\])+/g) ?? []
  return parts
    .map((part): [string, string] => {
      const equals = part.indexOf('=')
      return [part.slice(0, equals).trim(), part.slice(equals + 1).replace(/\\(.)/g, '$1')]
    })
    .reverse()
}
