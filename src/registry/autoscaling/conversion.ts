/**
 * Converts HorizontalPodAutoscalers between autoscaling/v1 and v2 (the storage version). v1 has only a CPU target.
 * Annotations of the v1 object keep the rest of a v2 object, so that a round trip loses nothing.
 */
import type * as V1 from '../../api/autoscaling/v1.ts'
import type * as V2 from '../../api/autoscaling/v2.ts'
import type { Json, ObjectMeta } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { setOwn } from '../../base/own.ts'
import { decodeValue } from '../../codec/decode/decode-typed.ts'
import { DecodeError } from '../../codec/decode/decode-problems.ts'
import { escapeHtml } from '../../json/write-json.ts'
import { builtInType } from '../../schema/built-in.ts'
import type { ListType, Structural } from '../../schema/structural.ts'

const PREFIX = 'autoscaling.alpha.kubernetes.io/'
const METRICS = `${PREFIX}metrics`
const BEHAVIOR = `${PREFIX}behavior`
const CURRENT_METRICS = `${PREFIX}current-metrics`
const CONDITIONS = `${PREFIX}conditions`
const ROUND_TRIP = new Set([
  METRICS,
  BEHAVIOR,
  CURRENT_METRICS,
  CONDITIONS,
  `${PREFIX}scale-down-tolerance`,
  `${PREFIX}scale-up-tolerance`,
])
/** The default of v1 for an absent target. */
const DEFAULT_CPU_UTILIZATION = 80

export function fromV1(hpa: V1.HorizontalPodAutoscaler): V2.HorizontalPodAutoscaler {
  const { metadata, spec = {}, status = {} } = hpa
  const annotations = metadata.annotations ?? {}
  const { targetCPUUtilizationPercentage, ...common } = spec
  const others = parsed<V1.MetricSpec[]>(listOf('v1.MetricSpec'), annotations[METRICS])?.map(metricFromV1) ?? []
  const ofCpu = targetCPUUtilizationPercentage === undefined ? [] : [cpuUtilization(targetCPUUtilizationPercentage)]
  const metrics = [...others, ...ofCpu]
  const behavior = parsed<V2.HorizontalPodAutoscalerBehavior>(
    typeNamed('v2.HorizontalPodAutoscalerBehavior'),
    annotations[BEHAVIOR],
  )
  const conditions = parsed<V2.HorizontalPodAutoscalerCondition[]>(
    listOf('v1.HorizontalPodAutoscalerCondition'),
    annotations[CONDITIONS],
  )
  return {
    kind: hpa.kind,
    metadata: withoutRoundTrip(metadata),
    spec: {
      ...common,
      metrics: metrics.length > 0 ? metrics : [cpuUtilization(DEFAULT_CPU_UTILIZATION)],
      ...(behavior === undefined || Object.keys(behavior).length === 0 ? {} : { behavior }),
    },
    status: {
      ...commonStatus(status),
      currentMetrics: currentMetricsFromV1(status, parsed(listOf('v1.MetricStatus'), annotations[CURRENT_METRICS])),
      ...(conditions === undefined ? {} : { conditions }),
    },
  }
}

/** v2 has fields for all data of these annotations, and ignores the annotations. */
export const withoutV1Annotations = (hpa: V2.HorizontalPodAutoscaler): V2.HorizontalPodAutoscaler => ({
  ...hpa,
  metadata: withoutRoundTrip(hpa.metadata),
})

export function toV1(hpa: V2.HorizontalPodAutoscaler): V1.HorizontalPodAutoscaler {
  const { spec = {}, status = {} } = hpa
  const { metrics = [], behavior, ...common } = spec
  const metadata = withoutRoundTrip(hpa.metadata)
  const annotations: Record<string, string> = { ...metadata.annotations }
  const others = metrics.filter((metric) => !isCpuUtilization(metric))
  if (others.length > 0) annotations[METRICS] = textOf(others.map(metricToV1))
  if ((status.currentMetrics ?? []).length > 0)
    annotations[CURRENT_METRICS] = textOf(status.currentMetrics!.map(currentMetricToV1))
  if (behavior !== undefined) annotations[BEHAVIOR] = textOf(internalBehavior(behavior))
  if ((status.conditions ?? []).length > 0) annotations[CONDITIONS] = textOf(status.conditions!.map(conditionToV1))
  const target = metrics.find(isCpuUtilization)?.resource?.target?.averageUtilization
  const current = status.currentMetrics
    ?.filter(({ type, resource }) => type === 'Resource' && resource?.name === 'cpu')
    .findLast(({ resource }) => resource?.current?.averageUtilization !== undefined)?.resource
    ?.current?.averageUtilization
  return {
    kind: hpa.kind,
    metadata: Object.keys(annotations).length > 0 ? { ...metadata, annotations } : metadata,
    spec: { ...common, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
    status: { ...commonStatus(status), ...(current === undefined ? {} : { currentCPUUtilizationPercentage: current }) },
  }
}

const textOf = (value: unknown): string => escapeHtml(JSON.stringify(value))

const conditionToV1 = ({ type, status, lastTransitionTime, reason, message }: V2.HorizontalPodAutoscalerCondition) => ({
  type: type ?? '',
  status: status ?? '',
  lastTransitionTime: lastTransitionTime ?? null,
  ...(reason ? { reason } : {}),
  ...(message ? { message } : {}),
})

const isCpuUtilization = ({ type, resource }: V2.MetricSpec): boolean =>
  type === 'Resource' && resource?.name === 'cpu' && resource.target?.averageUtilization !== undefined

const cpuUtilization = (averageUtilization: number): V2.MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})

function commonStatus({
  observedGeneration,
  lastScaleTime,
  currentReplicas,
  desiredReplicas,
}: V2.HorizontalPodAutoscalerStatus) {
  return { observedGeneration, lastScaleTime, currentReplicas, desiredReplicas }
}

function withoutRoundTrip(metadata: ObjectMeta): ObjectMeta {
  const { annotations, ...rest } = metadata
  if (annotations === undefined) return rest
  const kept = Object.entries(annotations).filter(([name]) => !ROUND_TRIP.has(name))
  return kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) }
}

const typeNamed = (name: string): Structural => builtInType(`io.k8s.api.autoscaling.${name}`)

const listOf = (element: string): ListType => ({
  shape: 'list',
  element: typeNamed(element),
  listType: 'atomic',
  keys: [],
  patchStrategy: { merge: false, replace: false, retainKeys: false },
})

/** Any client may write annotations, so the server ignores a text that is no JSON of this type. */
function parsed<T>(type: Structural, text: string | undefined): T | undefined {
  if (text === undefined) return undefined
  try {
    // decodeValue has decoded it as the type
    return decodeValue(type, spelled(type, JSON.parse(text) as Json)) as T | undefined
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DecodeError) return undefined
    throw error
  }
}

/** Spells the names of members as the type does. kube-apiserver ignores their case here, unlike in bodies. */
function spelled(type: Structural, value: Json): Json {
  if (Array.isArray(value))
    return type.shape === 'list' ? value.map((element) => spelled(type.element, element)) : value
  if (type.shape !== 'struct' || !isJsonObject(value)) return value
  const object = {}
  for (const [name, member] of Object.entries(value)) {
    // few: fields of a built-in type
    const field = type.field(name) ?? type.fields.find((field) => field.name.toLowerCase() === name.toLowerCase())
    if (field !== undefined && member !== undefined) setOwn(object, field.name, spelled(field.type, member))
  }
  return object
}

function metricFromV1({ type, object, pods, resource, containerResource, external }: V1.MetricSpec): V2.MetricSpec {
  return {
    type,
    ...(object && {
      object: {
        describedObject: object.target,
        target:
          object.averageValue === undefined
            ? { type: 'Value', value: object.targetValue }
            : { type: 'AverageValue', averageValue: object.averageValue, value: object.targetValue },
        metric: { name: object.metricName, selector: object.selector },
      },
    }),
    ...(pods && {
      pods: {
        metric: { name: pods.metricName, selector: pods.selector },
        target: { type: 'AverageValue', averageValue: pods.targetAverageValue },
      },
    }),
    ...(resource && { resource: { name: resource.name, target: resourceTarget(resource) } }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name,
        container: containerResource.container,
        target: resourceTarget(containerResource),
      },
    }),
    ...(external && {
      external: {
        metric: { name: external.metricName, selector: external.metricSelector },
        target: {
          type: external.targetValue === undefined ? 'AverageValue' : 'Value',
          value: external.targetValue,
          averageValue: external.targetAverageValue,
        },
      },
    }),
  }
}

const resourceTarget = (source: V1.ResourceMetricSource): V2.MetricTarget => ({
  type: source.targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization',
  averageUtilization: source.targetAverageUtilization,
  averageValue: source.targetAverageValue,
})

function metricToV1({ type, object, pods, resource, containerResource, external }: V2.MetricSpec): V1.MetricSpec {
  return {
    type,
    ...(object && {
      object: {
        target: described(object.describedObject),
        metricName: object.metric?.name ?? '',
        targetValue: object.target?.value ?? '0',
        selector: object.metric?.selector,
        averageValue: object.target?.averageValue,
      },
    }),
    ...(pods && {
      pods: {
        metricName: pods.metric?.name ?? '',
        targetAverageValue: pods.target?.averageValue ?? '0',
        selector: pods.metric?.selector,
      },
    }),
    ...(resource && {
      resource: {
        name: resource.name ?? '',
        targetAverageUtilization: resource.target?.averageUtilization,
        targetAverageValue: resource.target?.averageValue,
      },
    }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name ?? '',
        targetAverageUtilization: containerResource.target?.averageUtilization,
        targetAverageValue: containerResource.target?.averageValue,
        container: containerResource.container ?? '',
      },
    }),
    ...(external && {
      external: {
        metricName: external.metric?.name ?? '',
        metricSelector: external.metric?.selector,
        targetValue: external.target?.value,
        targetAverageValue: external.target?.averageValue,
      },
    }),
  }
}

const described = ({ kind, name, apiVersion }: V2.CrossVersionObjectReference = {}) => ({
  kind: kind ?? '',
  name: name ?? '',
  ...(apiVersion ? { apiVersion } : {}),
})

function currentMetricsFromV1(
  { currentCPUUtilizationPercentage }: V1.HorizontalPodAutoscalerStatus,
  statuses: V1.MetricStatus[] | undefined,
): V2.MetricStatus[] | undefined {
  // the annotation holds more than the field of v1
  if (statuses !== undefined) return statuses.map(currentMetricFromV1)
  if (currentCPUUtilizationPercentage === undefined) return undefined
  const averageUtilization = currentCPUUtilizationPercentage
  return [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } }]
}

function currentMetricFromV1({
  type,
  object,
  pods,
  resource,
  containerResource,
  external,
}: V1.MetricStatus): V2.MetricStatus {
  return {
    type,
    ...(object && {
      object: {
        describedObject: object.target,
        metric: { name: object.metricName, selector: object.selector },
        current: { value: object.currentValue, averageValue: object.averageValue },
      },
    }),
    ...(pods && {
      pods: {
        metric: { name: pods.metricName, selector: pods.selector },
        current: { averageValue: pods.currentAverageValue },
      },
    }),
    ...(resource && { resource: { name: resource.name, current: resourceCurrent(resource) } }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name,
        container: containerResource.container,
        current: resourceCurrent(containerResource),
      },
    }),
    ...(external && {
      external: {
        metric: { name: external.metricName, selector: external.metricSelector },
        current: { value: external.currentValue, averageValue: external.currentAverageValue },
      },
    }),
  }
}

const resourceCurrent = (source: V1.ResourceMetricStatus): V2.MetricValueStatus => ({
  averageUtilization: source.currentAverageUtilization,
  averageValue: source.currentAverageValue,
})

function currentMetricToV1({
  type,
  object,
  pods,
  resource,
  containerResource,
  external,
}: V2.MetricStatus): V1.MetricStatus {
  return {
    type,
    ...(object && {
      object: {
        target: described(object.describedObject),
        metricName: object.metric?.name ?? '',
        currentValue: object.current?.value ?? '0',
        selector: object.metric?.selector,
        averageValue: object.current?.averageValue,
      },
    }),
    ...(pods && {
      pods: {
        metricName: pods.metric?.name ?? '',
        currentAverageValue: pods.current?.averageValue ?? '0',
        selector: pods.metric?.selector,
      },
    }),
    ...(resource && {
      resource: {
        name: resource.name ?? '',
        currentAverageUtilization: resource.current?.averageUtilization,
        currentAverageValue: resource.current?.averageValue ?? '0',
      },
    }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name ?? '',
        currentAverageUtilization: containerResource.current?.averageUtilization,
        currentAverageValue: containerResource.current?.averageValue ?? '0',
        container: containerResource.container ?? '',
      },
    }),
    ...(external && {
      external: {
        metricName: external.metric?.name ?? '',
        metricSelector: external.metric?.selector,
        currentValue: external.current?.value ?? '0',
        currentAverageValue: external.current?.averageValue,
      },
    }),
  }
}

/** The annotation uses the field names of kube-apiserver's internal type, which has no JSON names. */
function internalBehavior({ scaleUp, scaleDown }: V2.HorizontalPodAutoscalerBehavior): unknown {
  const rules = (of: V2.HPAScalingRules | undefined) =>
    of === undefined
      ? null
      : {
          StabilizationWindowSeconds: of.stabilizationWindowSeconds ?? null,
          SelectPolicy: of.selectPolicy ?? null,
          Policies:
            of.policies?.map(({ type, value, periodSeconds }) => ({
              Type: type ?? '',
              Value: value ?? 0,
              PeriodSeconds: periodSeconds ?? 0,
            })) ?? null,
          Tolerance: of.tolerance ?? null,
        }
  return { ScaleUp: rules(scaleUp), ScaleDown: rules(scaleDown) }
}
