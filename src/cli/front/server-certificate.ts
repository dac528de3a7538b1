// Whether a server can show a certificate.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { Credential } from '../data-directory/certificate.ts'

/** Why no server can show this certificate. */
export function credentialProblem({ certificate, key }: Credential): string | undefined {
  try {
    // a context takes empty texts
    new X509Certificate(certificate)
    createPrivateKey(key)
    createSecureContext({ cert: certificate, key })
    return undefined
  } catch (error) {
    return `--tls-cert-file and --tls-private-key-file cannot be used: ${error instanceof Error ? error.message : String(error)}`
  }
}
