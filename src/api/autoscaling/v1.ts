// Generated from the facts by `npm run generate`. Do not edit.
import type * as ApiResource from '../api/resource.ts'
import type * as MetaV1 from '../meta/v1.ts'

export interface ContainerResourceMetricSource {
  name?: string
  targetAverageUtilization?: number
  targetAverageValue?: ApiResource.Quantity
  container?: string
}
export interface ContainerResourceMetricStatus {
  name?: string
  currentAverageUtilization?: number
  currentAverageValue?: ApiResource.Quantity
  container?: string
}
export interface CrossVersionObjectReference {
  kind?: string
  name?: string
  apiVersion?: string
}
export interface ExternalMetricSource {
  metricName?: string
  metricSelector?: MetaV1.LabelSelector
  targetValue?: ApiResource.Quantity
  targetAverageValue?: ApiResource.Quantity
}
export interface ExternalMetricStatus {
  metricName?: string
  metricSelector?: MetaV1.LabelSelector
  currentValue?: ApiResource.Quantity
  currentAverageValue?: ApiResource.Quantity
}
export interface HorizontalPodAutoscaler {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: HorizontalPodAutoscalerSpec
  status?: HorizontalPodAutoscalerStatus
}
export interface HorizontalPodAutoscalerCondition {
  type?: string
  status?: string
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface HorizontalPodAutoscalerList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: HorizontalPodAutoscaler[]
}
export interface HorizontalPodAutoscalerSpec {
  scaleTargetRef?: CrossVersionObjectReference
  minReplicas?: number
  maxReplicas?: number
  targetCPUUtilizationPercentage?: number
}
export interface HorizontalPodAutoscalerStatus {
  observedGeneration?: number | bigint
  lastScaleTime?: MetaV1.Time
  currentReplicas?: number
  desiredReplicas?: number
  currentCPUUtilizationPercentage?: number
}
export interface MetricSpec {
  type?: string
  object?: ObjectMetricSource
  pods?: PodsMetricSource
  resource?: ResourceMetricSource
  containerResource?: ContainerResourceMetricSource
  external?: ExternalMetricSource
}
export interface MetricStatus {
  type?: string
  object?: ObjectMetricStatus
  pods?: PodsMetricStatus
  resource?: ResourceMetricStatus
  containerResource?: ContainerResourceMetricStatus
  external?: ExternalMetricStatus
}
export interface ObjectMetricSource {
  target?: CrossVersionObjectReference
  metricName?: string
  targetValue?: ApiResource.Quantity
  selector?: MetaV1.LabelSelector
  averageValue?: ApiResource.Quantity
}
export interface ObjectMetricStatus {
  target?: CrossVersionObjectReference
  metricName?: string
  currentValue?: ApiResource.Quantity
  selector?: MetaV1.LabelSelector
  averageValue?: ApiResource.Quantity
}
export interface PodsMetricSource {
  metricName?: string
  targetAverageValue?: ApiResource.Quantity
  selector?: MetaV1.LabelSelector
}
export interface PodsMetricStatus {
  metricName?: string
  currentAverageValue?: ApiResource.Quantity
  selector?: MetaV1.LabelSelector
}
export interface ResourceMetricSource {
  name?: string
  targetAverageUtilization?: number
  targetAverageValue?: ApiResource.Quantity
}
export interface ResourceMetricStatus {
  name?: string
  currentAverageUtilization?: number
  currentAverageValue?: ApiResource.Quantity
}
export interface Scale {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ScaleSpec
  status?: ScaleStatus
}
export interface ScaleSpec {
  replicas?: number
}
export interface ScaleStatus {
  replicas?: number
  selector?: string
}
