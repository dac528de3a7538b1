import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { certificateSigningRequests } from './certificate-signing-requests.ts'
import { clusterTrustBundles } from './cluster-trust-bundles.ts'
import { podCertificateRequests } from './pod-certificate-requests.ts'

export const certificateDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'certificatesigningrequests.certificates.k8s.io': untyped(certificateSigningRequests),
  'clustertrustbundles.certificates.k8s.io': untyped(clusterTrustBundles),
  'podcertificaterequests.certificates.k8s.io': untyped(podCertificateRequests),
}
