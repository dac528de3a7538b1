/**
 * Client certificates in `request.cf.tlsClientAuth`, as the process that terminates TLS passes them on: Cloudflare's
 * edge, or the local server's front in the same form. The other fields there are not sufficient: `certVerified` is
 * SUCCESS for a certificate of any authority that the zone accepts, also for a revoked one.
 */
import { fromBase64 } from '../x509/pem.ts'

/** The fields that Kedge reads. */
export interface ClientCertificate {
  /** '1' where the client has presented one. */
  readonly certPresented?: string
  /** 'SUCCESS', 'NONE', or 'FAILED:' and the reason. */
  readonly certVerified?: string
  /** '1' for a revoked certificate, else '0'. */
  readonly certRevoked?: string
  /** RFC 9440: DER in base64 between colons. Empty where it is too large. */
  readonly certRFC9440?: string
  /** The authorities that the client sent with it, in the same form, with commas; empty without any. */
  readonly certChainRFC9440?: string
}

export function presentedCertificate({ cf }: { readonly cf?: unknown }): ClientCertificate | undefined {
  // the platform's type lacks the fields of RFC 9440
  const certificate = (cf as { readonly tlsClientAuth?: ClientCertificate } | undefined)?.tlsClientAuth
  return certificate?.certPresented === '1' ? certificate : undefined
}

/** The client has the key, its certificate was verified, and it is not revoked. */
export const isInForce = ({ certVerified, certRevoked }: ClientCertificate): boolean =>
  certVerified === 'SUCCESS' && certRevoked === '0'

/**
 * DER, the client's own certificate first.
 * @throws where the text is not of RFC 9440
 */
export function certificateChain({ certRFC9440 = '', certChainRFC9440 = '' }: ClientCertificate): Uint8Array[] {
  const rest = certChainRFC9440 === '' ? [] : certChainRFC9440.split(',')
  return [certRFC9440, ...rest].map((item) => {
    const base64 = /^ *:([A-Za-z0-9+/]+={0,2}): *$/.exec(item)?.[1]
    if (base64 === undefined) throw new TypeError('no certificate in the form of RFC 9440')
    return fromBase64(base64)
  })
}

/**
 * The name in the certificate that a server shows to kubelets. Kubelets ask what it may do, so it is of system:masters.
 * Nodes say where they are, and one of them may lead such a request back to a server of this control plane. So the
 * certificate is good at kubelets alone.
 */
export const KUBELET_CLIENT = 'kube-apiserver-kubelet-client'
