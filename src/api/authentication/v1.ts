// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface BoundObjectReference {
  kind?: string
  apiVersion?: string
  name?: string
  uid?: string
}
export type ExtraValue = string[]
export interface SelfSubjectReview {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  status?: SelfSubjectReviewStatus
}
export interface SelfSubjectReviewStatus {
  userInfo?: UserInfo
}
export interface TokenRequest {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: TokenRequestSpec
  status?: TokenRequestStatus
}
export interface TokenRequestSpec {
  audiences?: string[]
  expirationSeconds?: number | bigint
  boundObjectRef?: BoundObjectReference
}
export interface TokenRequestStatus {
  token?: string
  expirationTimestamp?: MetaV1.Time
}
export interface TokenReview {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: TokenReviewSpec
  status?: TokenReviewStatus
}
export interface TokenReviewSpec {
  token?: string
  audiences?: string[]
}
export interface TokenReviewStatus {
  authenticated?: boolean
  user?: UserInfo
  audiences?: string[]
  error?: string
}
export interface UserInfo {
  username?: string
  uid?: string
  groups?: string[]
  extra?: Record<string, ExtraValue>
}
