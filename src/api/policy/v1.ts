// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'
import type * as UtilIntstr from '../util/intstr.ts'

export interface Eviction {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  deleteOptions?: MetaV1.DeleteOptions
}
export interface PodDisruptionBudget {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: PodDisruptionBudgetSpec
  status?: PodDisruptionBudgetStatus
}
export interface PodDisruptionBudgetList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: PodDisruptionBudget[]
}
export interface PodDisruptionBudgetSpec {
  minAvailable?: UtilIntstr.IntOrString
  selector?: MetaV1.LabelSelector
  maxUnavailable?: UtilIntstr.IntOrString
  unhealthyPodEvictionPolicy?: string
}
export interface PodDisruptionBudgetStatus {
  observedGeneration?: number | bigint
  disruptedPods?: Record<string, MetaV1.Time>
  disruptionsAllowed?: number
  currentHealthy?: number
  desiredHealthy?: number
  expectedPods?: number
  conditions?: MetaV1.Condition[]
}
