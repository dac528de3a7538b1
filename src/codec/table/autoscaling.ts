import type { Scale } from '../../api/autoscaling/v1.ts'
import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus } from '../../api/autoscaling/v2.ts'
import { age, nameOf, printer } from './cells.ts'

export const horizontalPodAutoscalerPrinter = printer<HorizontalPodAutoscaler>((object, now) => {
  const { spec = {}, status = {} } = object
  return [
    nameOf(object),
    `${spec.scaleTargetRef?.kind ?? ''}/${spec.scaleTargetRef?.name ?? ''}`,
    metricsText(spec.metrics, status.currentMetrics ?? undefined),
    spec.minReplicas === undefined ? '<unset>' : String(spec.minReplicas),
    spec.maxReplicas ?? 0,
    status.currentReplicas ?? 0,
    age(object, now),
  ]
})

export const scalePrinter = printer<Scale>((object, now) => [
  nameOf(object),
  object.spec?.replicas ?? 0,
  object.status?.replicas ?? 0,
  age(object, now),
])

const MOST_METRICS = 2

function metricsText(specs: readonly MetricSpec[] = [], statuses: readonly MetricStatus[] = []): string {
  if (specs.length === 0) return '<none>'
  const texts = specs.slice(0, MOST_METRICS).map((spec, index) => metricText(spec, statuses[index]))
  const more = specs.length - MOST_METRICS
  return more > 0 ? `${texts.join(', ')} + ${more} more...` : texts.join(', ')
}

/** Go's text of a nil pointer to a quantity. */
const NIL = '<nil>'
const UNKNOWN = '<unknown>'

function metricText(spec: MetricSpec, status: MetricStatus | undefined): string {
  switch (spec.type) {
    case 'External':
      return measuredText(spec.external?.target, status?.external)
    case 'Object':
      return measuredText(spec.object?.target, status?.object)
    case 'Pods': {
      const current = status?.pods === undefined ? UNKNOWN : (status.pods.current?.averageValue ?? NIL)
      return `${current}/${spec.pods?.target?.averageValue ?? NIL}`
    }
    case 'Resource':
      return resourceText(spec.resource, status?.resource)
    case 'ContainerResource':
      return resourceText(spec.containerResource, status?.containerResource)
    default:
      return '<unknown type>'
  }
}

interface Amount {
  readonly value?: string
  readonly averageValue?: string
  readonly averageUtilization?: number
}

function measuredText(target: Amount = {}, status: { readonly current?: Amount } | undefined): string {
  if (target.averageValue !== undefined)
    return `${status?.current?.averageValue ?? UNKNOWN}/${target.averageValue} (avg)`
  const current = status === undefined ? UNKNOWN : (status.current?.value ?? NIL)
  return `${current}/${target.value ?? NIL}`
}

function resourceText(
  { name = '', target = {} }: { readonly name?: string; readonly target?: Amount } = {},
  status: { readonly current?: Amount } | undefined,
): string {
  if (target.averageValue !== undefined) {
    const current = status === undefined ? UNKNOWN : (status.current?.averageValue ?? NIL)
    return `${name}: ${current}/${target.averageValue}`
  }
  const current = percent(status?.current?.averageUtilization) ?? UNKNOWN
  return `${name}: ${current}/${percent(target.averageUtilization) ?? '<auto>'}`
}

const percent = (value: number | undefined): string | undefined => (value === undefined ? undefined : `${value}%`)
