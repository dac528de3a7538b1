import type { Strategy } from '../strategy.ts'
import { untyped } from '../untyped.ts'
import { certificateSigningRequests } from './certificate-signing-requests.ts'
import { clusterTrustBundles } from './cluster-trust-bundles.ts'
import { podCertificateRequests } from './pod-certificate-requests.ts'

/** The store hands a strategy only objects of its own kind, decoded by that kind's schema. */
export const certificateStrategies: Readonly<Record<string, Strategy>> = {
  'certificatesigningrequests.certificates.k8s.io': certificateSigningRequests as unknown as Strategy,
  'clustertrustbundles.certificates.k8s.io': untyped(clusterTrustBundles),
  'podcertificaterequests.certificates.k8s.io': untyped(podCertificateRequests),
}
