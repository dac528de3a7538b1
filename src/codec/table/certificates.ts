import type { CertificateSigningRequest } from '../../api/certificates/v1.ts'
import type { ClusterTrustBundle, PodCertificateRequest } from '../../api/certificates/v1beta1.ts'
import { humanDuration } from './age.ts'
import { age, labelsText, nameOf, printer } from './cells.ts'

export const certificateSigningRequestPrinter = printer<CertificateSigningRequest>((object, now) => {
  const { spec = {} } = object
  return [
    nameOf(object),
    age(object, now),
    spec.signerName || '<none>',
    spec.username ?? '',
    spec.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000),
    statusOf(object),
  ]
})

export const clusterTrustBundlePrinter = printer<ClusterTrustBundle>((object) => [
  nameOf(object),
  object.spec?.signerName || '<none>',
])

export const podCertificateRequestPrinter = printer<PodCertificateRequest>((object) => {
  const { spec = {}, status = {} } = object
  const decided = status.conditions?.findLast(({ type }) => ['Issued', 'Denied', 'Failed'].includes(type ?? ''))
  return [
    nameOf(object),
    spec.podName ?? '',
    spec.serviceAccountName ?? '',
    spec.nodeName ?? '',
    spec.signerName ?? '',
    decided?.type ?? 'Pending',
    labelsText(spec.unverifiedUserAnnotations),
  ]
})

function statusOf({ status = {} }: CertificateSigningRequest): string {
  const has = (wanted: string) => status.conditions?.some(({ type }) => type === wanted) ?? false
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return `${decision}${has('Failed') ? ',Failed' : ''}${status.certificate ? ',Issued' : ''}`
}
