// Generated from the facts by `npm run generate`. Do not edit.
import type * as AuthenticationV1 from './v1.ts'
import type * as MetaV1 from '../meta/v1.ts'

export interface SelfSubjectReview {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  status?: SelfSubjectReviewStatus
}
export interface SelfSubjectReviewStatus {
  userInfo?: AuthenticationV1.UserInfo
}
