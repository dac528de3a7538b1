/**
 * CertificateApproval, CertificateSigning, CertificateSubjectRestriction: who may approve a certificate request, who
 * may sign for a signer, and for which subjects. ClusterTrustBundleAttest: who may publish the trust anchors of a
 * signer.
 */
import type { CertificateSigningRequest } from '../../api/certificates/v1.ts'
import { goQuote } from '../../go/quote.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { resourceAttributes } from '../../authorization/attributes.ts'
import { verdictOn } from '../../authorization/authorize.ts'
import { stringifySorted } from '../../json/write-json.ts'
import { parseCertificateRequest } from '../../x509/certificate-request.ts'
import { fromBase64 } from '../../x509/pem.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { admissionForbidden as refusal } from '../forbidden.ts'

type Request = CertificateSigningRequest & KubeObject

const isRequest = ({ resource }: Attributes): boolean =>
  resource.group === 'certificates.k8s.io' && resource.resource === 'certificatesigningrequests'

export const certificateApproval: AdmissionPlugin = {
  name: 'CertificateApproval',
  handles: (attributes) =>
    isRequest(attributes) && attributes.operation === 'UPDATE' && attributes.subresource === 'approval',
  async validate(attributes) {
    const signer = signerOf(attributes.oldObject)
    if (!(await mayFor(attributes, 'approve', signer)))
      throw refusal(attributes, `user not permitted to approve requests with signerName ${goQuote(signer)}`)
  },
}

export const certificateSigning: AdmissionPlugin = {
  name: 'CertificateSigning',
  handles: (attributes) =>
    isRequest(attributes) && attributes.operation === 'UPDATE' && attributes.subresource === 'status',
  async validate(attributes) {
    // only certificate requests are written at this path
    const [now, old] = [attributes.object as Request | undefined, attributes.oldObject as Request | undefined]
    const sameCertificate = (now?.status?.certificate ?? '') === (old?.status?.certificate ?? '')
    if (sameCertificate && conditionsText(now) === conditionsText(old)) return
    const signer = signerOf(old)
    if (!(await mayFor(attributes, 'sign', signer)))
      throw refusal(attributes, `user not permitted to sign requests with signerName ${goQuote(signer)}`)
  },
}

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client'

export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  handles: (attributes) => isRequest(attributes) && attributes.operation === 'CREATE' && attributes.subresource === '',
  validate(attributes) {
    const request = attributes.object as Request | undefined
    if (signerOf(request) !== CLIENT_SIGNER) return
    // validation has checked it
    const pem = new TextDecoder().decode(fromBase64(request?.spec?.request ?? ''))
    if (parseCertificateRequest(pem).organizations.includes('system:masters'))
      throw refusal(attributes, `use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`)
  },
}

export const clusterTrustBundleAttest: AdmissionPlugin = {
  name: 'ClusterTrustBundleAttest',
  handles: ({ resource, operation }) =>
    resource.group === 'certificates.k8s.io' &&
    resource.resource === 'clustertrustbundles' &&
    (operation === 'CREATE' || operation === 'UPDATE'),
  async validate(attributes) {
    const { object, oldObject } = attributes
    const signer = signerOf(object)
    if (signer === '' || (oldObject !== undefined && isOnlyCollected(object, oldObject))) return
    if (!(await mayFor(attributes, 'attest', signer)))
      throw refusal(attributes, `user not permitted to attest for signerName ${goQuote(signer)}`)
  },
}

/** Whether a write changes only what the garbage collector and storage migration change. */
function isOnlyCollected(object: KubeObject | undefined, old: KubeObject): boolean {
  const rest = (of: KubeObject | undefined) => {
    const { ownerReferences: _, finalizers: __, managedFields: ___, ...metadata } = of?.metadata ?? {}
    return stringifySorted({ ...of, metadata } as unknown as Json)
  }
  return rest(object) === rest(old)
}

const signerOf = (request: KubeObject | undefined): string => (request as Request | undefined)?.spec?.signerName ?? ''

const conditionsText = (request: Request | undefined): string =>
  stringifySorted((request?.status?.conditions ?? []) as unknown as Json)

/** The permission for this signer, or for all signers of its domain: `DOMAIN/*`. */
async function mayFor({ user, request }: Attributes, verb: string, signer: string): Promise<boolean> {
  const ask = (name: string) =>
    verdictOn(
      request,
      resourceAttributes(user, verb, { apiGroup: 'certificates.k8s.io', apiVersion: '*', resource: 'signers', name }),
    )
  return (await ask(signer)).allowed || (await ask(`${signer.split('/')[0]}/*`)).allowed
}
