// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface AggregationRule {
  clusterRoleSelectors?: MetaV1.LabelSelector[]
}
export interface ClusterRole {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  rules?: PolicyRule[]
  aggregationRule?: AggregationRule
}
export interface ClusterRoleBinding {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  subjects?: Subject[]
  roleRef?: RoleRef
}
export interface ClusterRoleBindingList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ClusterRoleBinding[]
}
export interface ClusterRoleList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ClusterRole[]
}
export interface PolicyRule {
  verbs?: string[]
  apiGroups?: string[]
  resources?: string[]
  resourceNames?: string[]
  nonResourceURLs?: string[]
}
export interface Role {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  rules?: PolicyRule[]
}
export interface RoleBinding {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  subjects?: Subject[]
  roleRef?: RoleRef
}
export interface RoleBindingList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: RoleBinding[]
}
export interface RoleList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Role[]
}
export interface RoleRef {
  apiGroup?: string
  kind?: string
  name?: string
}
export interface Subject {
  kind?: string
  apiVersion?: string
  name?: string
  namespace?: string
}
