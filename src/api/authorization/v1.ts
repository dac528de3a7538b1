// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export type ExtraValue = string[]
export interface FieldSelectorAttributes {
  rawSelector?: string
  requirements?: MetaV1.FieldSelectorRequirement[]
}
export interface LabelSelectorAttributes {
  rawSelector?: string
  requirements?: MetaV1.LabelSelectorRequirement[]
}
export interface LocalSubjectAccessReview {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: SubjectAccessReviewSpec
  status?: SubjectAccessReviewStatus
}
export interface NonResourceAttributes {
  path?: string
  verb?: string
}
export interface NonResourceRule {
  verbs?: string[]
  nonResourceURLs?: string[]
}
export interface ResourceAttributes {
  namespace?: string
  verb?: string
  group?: string
  version?: string
  resource?: string
  subresource?: string
  name?: string
  fieldSelector?: FieldSelectorAttributes
  labelSelector?: LabelSelectorAttributes
}
export interface ResourceRule {
  verbs?: string[]
  apiGroups?: string[]
  resources?: string[]
  resourceNames?: string[]
}
export interface SelfSubjectAccessReview {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: SelfSubjectAccessReviewSpec
  status?: SubjectAccessReviewStatus
}
export interface SelfSubjectAccessReviewSpec {
  resourceAttributes?: ResourceAttributes
  nonResourceAttributes?: NonResourceAttributes
}
export interface SelfSubjectRulesReview {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: SelfSubjectRulesReviewSpec
  status?: SubjectRulesReviewStatus
}
export interface SelfSubjectRulesReviewSpec {
  namespace?: string
}
export interface SubjectAccessReview {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: SubjectAccessReviewSpec
  status?: SubjectAccessReviewStatus
}
export interface SubjectAccessReviewSpec {
  resourceAttributes?: ResourceAttributes
  nonResourceAttributes?: NonResourceAttributes
  user?: string
  groups?: string[]
  extra?: Record<string, ExtraValue>
  uid?: string
}
export interface SubjectAccessReviewStatus {
  allowed?: boolean
  denied?: boolean
  reason?: string
  evaluationError?: string
}
export interface SubjectRulesReviewStatus {
  resourceRules?: ResourceRule[]
  nonResourceRules?: NonResourceRule[]
  incomplete?: boolean
  evaluationError?: string
}
