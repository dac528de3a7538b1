import { readCertificate } from './certificate.ts'
import { fromBase64, pemBlocks } from './pem.ts'

const CANNOT_LOAD = 'unable to load root certificates:'

/**
 * The error of client-go where a TLS client cannot use a bundle of certificate authorities; undefined for a good or
 * an empty bundle.
 * @param base64 PEM texts in base64, as JSON has bytes
 */
export function authorityProblem(base64 = ''): string | undefined {
  if (base64 === '') return undefined
  const blocks = pemBlocks(new TextDecoder().decode(fromBase64(base64)))
  const certificates = blocks.filter(({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders)
  const readable = certificates.map(({ bytes }) => isReadable(bytes))
  if (readable.includes(true)) return undefined
  if (certificates.length > 0) return `${CANNOT_LOAD} failed to parse certificate: x509: malformed certificate`
  return `${CANNOT_LOAD} ${blocks.length === 0 ? 'unable to parse bytes as PEM block' : 'no valid certificate authority data seen'}`
}

function isReadable(der: Uint8Array): boolean {
  try {
    readCertificate(der)
    return true
  } catch {
    return false
  }
}
