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
export type ExtraValue = string[]
