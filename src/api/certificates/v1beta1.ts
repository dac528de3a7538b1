// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface CertificateSigningRequest {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: CertificateSigningRequestSpec
  status?: CertificateSigningRequestStatus
}
export interface CertificateSigningRequestCondition {
  type?: string
  status?: string
  reason?: string
  message?: string
  lastUpdateTime?: MetaV1.Time
  lastTransitionTime?: MetaV1.Time
}
export interface CertificateSigningRequestList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: CertificateSigningRequest[]
}
export interface CertificateSigningRequestSpec {
  request?: string
  signerName?: string
  expirationSeconds?: number
  usages?: string[]
  username?: string
  uid?: string
  groups?: string[]
  extra?: Record<string, ExtraValue>
}
export interface CertificateSigningRequestStatus {
  conditions?: CertificateSigningRequestCondition[]
  certificate?: string
}
export interface ClusterTrustBundle {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ClusterTrustBundleSpec
}
export interface ClusterTrustBundleList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ClusterTrustBundle[]
}
export interface ClusterTrustBundleSpec {
  signerName?: string
  trustBundle?: string
}
export type ExtraValue = string[]
export interface PodCertificateRequest {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: PodCertificateRequestSpec
  status?: PodCertificateRequestStatus
}
export interface PodCertificateRequestList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: PodCertificateRequest[]
}
export interface PodCertificateRequestSpec {
  signerName?: string
  podName?: string
  podUID?: string
  serviceAccountName?: string
  serviceAccountUID?: string
  nodeName?: string
  nodeUID?: string
  maxExpirationSeconds?: number
  pkixPublicKey?: string
  proofOfPossession?: string
  stubPKCS10Request?: string
  unverifiedUserAnnotations?: Record<string, string>
}
export interface PodCertificateRequestStatus {
  conditions?: MetaV1.Condition[]
  certificateChain?: string
  notBefore?: MetaV1.Time
  beginRefreshAt?: MetaV1.Time
  notAfter?: MetaV1.Time
}
