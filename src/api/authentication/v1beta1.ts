// Generated from the facts by `npm run generate`. Do not edit.
import type * as AuthenticationV1 from './v1.ts'
import type * as MetaV1 from '../meta/v1.ts'

export type ExtraValue = string[]
export interface SelfSubjectReview {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  status?: SelfSubjectReviewStatus
}
export interface SelfSubjectReviewStatus {
  userInfo?: AuthenticationV1.UserInfo
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
