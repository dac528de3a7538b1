// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export type BasicSchedulingPolicy = Record<string, never>
export interface GangSchedulingPolicy {
  minCount?: number
}
export interface PodGroup {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: PodGroupSpec
  status?: PodGroupStatus
}
export interface PodGroupList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: PodGroup[]
}
export interface PodGroupResourceClaim {
  name?: string
  resourceClaimName?: string
  resourceClaimTemplateName?: string
}
export interface PodGroupResourceClaimStatus {
  name?: string
  resourceClaimName?: string
}
export interface PodGroupSchedulingConstraints {
  topology?: TopologyConstraint[]
}
export interface PodGroupSchedulingPolicy {
  basic?: BasicSchedulingPolicy
  gang?: GangSchedulingPolicy
}
export interface PodGroupSpec {
  podGroupTemplateRef?: PodGroupTemplateReference
  schedulingPolicy?: PodGroupSchedulingPolicy
  schedulingConstraints?: PodGroupSchedulingConstraints
  resourceClaims?: PodGroupResourceClaim[]
  disruptionMode?: string
  priorityClassName?: string
  priority?: number
}
export interface PodGroupStatus {
  conditions?: MetaV1.Condition[]
  resourceClaimStatuses?: PodGroupResourceClaimStatus[]
}
export interface PodGroupTemplate {
  name?: string
  schedulingPolicy?: PodGroupSchedulingPolicy
  schedulingConstraints?: PodGroupSchedulingConstraints
  resourceClaims?: PodGroupResourceClaim[]
  disruptionMode?: string
  priorityClassName?: string
  priority?: number
}
export interface PodGroupTemplateReference {
  workload?: WorkloadPodGroupTemplateReference
}
export interface TopologyConstraint {
  key?: string
}
export interface TypedLocalObjectReference {
  apiGroup?: string
  kind?: string
  name?: string
}
export interface Workload {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: WorkloadSpec
}
export interface WorkloadList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Workload[]
}
export interface WorkloadPodGroupTemplateReference {
  workloadName?: string
  podGroupTemplateName?: string
}
export interface WorkloadSpec {
  controllerRef?: TypedLocalObjectReference
  podGroupTemplates?: PodGroupTemplate[]
}
