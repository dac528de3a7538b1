import { readCertificate } from '../x509/certificate.ts'
import { fromBase64, pemBlocks } from '../x509/pem.ts'
import { isSignedBy } from '../x509/signature.ts'

/**
 * Whether a certificate was signed by an authority and holds now: for the authority of front proxies, which whoever
 * ends TLS does not tell from the one of clients.
 * @param der base64
 */
export async function isIssuedBy(der: string, authorityPem: string, now: Date): Promise<boolean> {
  try {
    const certificate = readCertificate(fromBase64(der))
    const authority = readCertificate(pemBlocks(authorityPem)[0]!.bytes)
    const time = now.getTime()
    const holds = [certificate, authority].every(({ notBefore, notAfter }) => notBefore <= time && time <= notAfter)
    return holds && (await isSignedBy(certificate.signed, authority.publicKey))
  } catch {
    return false
  }
}
