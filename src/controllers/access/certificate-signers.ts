/** The rules of the signers of kubernetes.io (with the texts of kube-apiserver's pkg/apis/certificates helpers). */
import { ownValue } from '../../base/own.ts'
import type { CertificateRequest } from '../../x509/certificate-request.ts'

type Check = (request: CertificateRequest, usages: readonly string[]) => string | undefined

const signers: Readonly<Record<string, Check>> = {
  'kubernetes.io/kube-apiserver-client': client,
  'kubernetes.io/kube-apiserver-client-kubelet': kubeletClient,
  'kubernetes.io/kubelet-serving': kubeletServing,
  'kubernetes.io/legacy-unknown': () => undefined,
}

/** Why a signer refuses; `not ours` for signers outside of this server; undefined for a valid request. */
export function signerProblem(signer: string, request: CertificateRequest, usages: readonly string[]) {
  const check = ownValue(signers, signer)
  return check === undefined ? 'not ours' : check(request, usages)
}

function client(_request: CertificateRequest, usages: readonly string[]): string | undefined {
  const optional = ['digital signature', 'key encipherment', 'client auth']
  // few: the three above
  const unknown = usages.find((usage) => !optional.includes(usage))
  if (unknown !== undefined) return `invalid usage for client certificate: ${unknown}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

const KEY_ENCIPHERMENT = 'key encipherment'

/** The usages must be all of `wanted`. Key encipherment is optional, because only RSA keys need it. */
function usagesProblem(usages: readonly string[], wanted: readonly string[]): string | undefined {
  const given = [...new Set(usages)].sort().join()
  const withoutRsa = wanted.filter((usage) => usage !== KEY_ENCIPHERMENT)
  return given === wanted.join() || given === withoutRsa.join()
    ? undefined
    : `usages did not match [${wanted.join(' ')}]`
}

const isNodes = ({ organizations }: CertificateRequest): boolean =>
  organizations.length === 1 && organizations[0] === 'system:nodes'
const isNode = ({ commonName }: CertificateRequest): boolean => commonName.startsWith('system:node:')
const NOT_NODES = 'subject organization is not system:nodes'
const NOT_NODE = 'subject common name does not begin with system:node:'

function kubeletClient(request: CertificateRequest, usages: readonly string[]): string | undefined {
  const { dnsNames, emails, addresses, uris } = request.alternativeNames
  if (!isNodes(request)) return NOT_NODES
  if (dnsNames.length > 0) return 'DNS subjectAltNames are not allowed'
  if (emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (addresses.length > 0) return 'IP subjectAltNames are not allowed'
  if (uris.length > 0) return 'URI subjectAltNames are not allowed'
  if (!isNode(request)) return NOT_NODE
  return usagesProblem(usages, ['client auth', 'digital signature', KEY_ENCIPHERMENT])
}

function kubeletServing(request: CertificateRequest, usages: readonly string[]): string | undefined {
  const { dnsNames, emails, addresses, uris } = request.alternativeNames
  if (!isNodes(request)) return NOT_NODES
  if (dnsNames.length === 0 && addresses.length === 0) return 'DNS or IP subjectAltName is required'
  if (emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (uris.length > 0) return 'URI subjectAltNames are not allowed'
  const wrong = usagesProblem(usages, ['digital signature', KEY_ENCIPHERMENT, 'server auth'])
  return wrong ?? (isNode(request) ? undefined : NOT_NODE)
}
