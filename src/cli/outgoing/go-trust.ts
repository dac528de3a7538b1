// Which certificates of other servers this process trusts: those that Go's crypto/x509 trusts.
import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import type { ConnectionOptions, PeerCertificate } from 'node:tls'
import { LEGACY_COMMON_NAME } from '../../webhooks/failure-text.ts'

/**
 * Node's own check takes the subject's common name where a certificate has no DNS names. Go takes only the names of the
 * extension.
 */
function checkNames(host: string, certificate: PeerCertificate): Error | undefined {
  const problem = checkServerIdentity(host, certificate)
  const { subjectaltname } = certificate
  if (problem !== undefined || isIP(host) !== 0 || /(?:^|, )DNS:/.test(subjectaltname ?? '')) return problem
  const code = subjectaltname === undefined ? LEGACY_COMMON_NAME : 'ERR_TLS_CERT_ALTNAME_INVALID'
  return Object.assign(new Error(`${host} is no name of the certificate`), { code, host, cert: certificate })
}

export const goTrust = {
  // Go trusts each certificate of a bundle by itself: a server's own, or that of an authority that is no root
  allowPartialTrustChain: true,
  checkServerIdentity: checkNames,
} satisfies ConnectionOptions
