// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface ImageReview {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ImageReviewSpec
  status?: ImageReviewStatus
}
export interface ImageReviewContainerSpec {
  image?: string
}
export interface ImageReviewSpec {
  containers?: ImageReviewContainerSpec[]
  annotations?: Record<string, string>
  namespace?: string
}
export interface ImageReviewStatus {
  allowed?: boolean
  reason?: string
  auditAnnotations?: Record<string, string>
}
