// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface ExemptPriorityLevelConfiguration {
  nominalConcurrencyShares?: number
  lendablePercent?: number
}
export interface FlowDistinguisherMethod {
  type?: string
}
export interface FlowSchema {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: FlowSchemaSpec
  status?: FlowSchemaStatus
}
export interface FlowSchemaCondition {
  type?: string
  status?: string
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface FlowSchemaList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: FlowSchema[]
}
export interface FlowSchemaSpec {
  priorityLevelConfiguration?: PriorityLevelConfigurationReference
  matchingPrecedence?: number
  distinguisherMethod?: FlowDistinguisherMethod
  rules?: PolicyRulesWithSubjects[]
}
export interface FlowSchemaStatus {
  conditions?: FlowSchemaCondition[]
}
export interface GroupSubject {
  name?: string
}
export interface LimitResponse {
  type?: string
  queuing?: QueuingConfiguration
}
export interface LimitedPriorityLevelConfiguration {
  assuredConcurrencyShares?: number
  limitResponse?: LimitResponse
  lendablePercent?: number
  borrowingLimitPercent?: number
}
export interface NonResourcePolicyRule {
  verbs?: string[]
  nonResourceURLs?: string[]
}
export interface PolicyRulesWithSubjects {
  subjects?: Subject[]
  resourceRules?: ResourcePolicyRule[]
  nonResourceRules?: NonResourcePolicyRule[]
}
export interface PriorityLevelConfiguration {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: PriorityLevelConfigurationSpec
  status?: PriorityLevelConfigurationStatus
}
export interface PriorityLevelConfigurationCondition {
  type?: string
  status?: string
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface PriorityLevelConfigurationList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: PriorityLevelConfiguration[]
}
export interface PriorityLevelConfigurationReference {
  name?: string
}
export interface PriorityLevelConfigurationSpec {
  type?: string
  limited?: LimitedPriorityLevelConfiguration
  exempt?: ExemptPriorityLevelConfiguration
}
export interface PriorityLevelConfigurationStatus {
  conditions?: PriorityLevelConfigurationCondition[]
}
export interface QueuingConfiguration {
  queues?: number
  handSize?: number
  queueLengthLimit?: number
}
export interface ResourcePolicyRule {
  verbs?: string[]
  apiGroups?: string[]
  resources?: string[]
  clusterScope?: boolean
  namespaces?: string[]
}
export interface ServiceAccountSubject {
  namespace?: string
  name?: string
}
export interface Subject {
  kind?: string
  user?: UserSubject
  group?: GroupSubject
  serviceAccount?: ServiceAccountSubject
}
export interface UserSubject {
  name?: string
}
