/** The replicas that each metric proposes (kube-controller-manager's computeReplicasForMetrics), with its texts. */
import type {
  CrossVersionObjectReference,
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '../../../api/autoscaling/v2.ts'
import { selectorDebugText } from '../../../codec/table/selector-text.ts'
import { Quantity } from '../../../schema/quantity.ts'
import type { MetricsClient } from './metrics.ts'
import type { Calculation, Proposal } from './replicas.ts'
import { averageProposal, MetricFailure, shareProposal, total, utilizationProposal, valueProposal } from './replicas.ts'

export interface ProposalContext {
  readonly calculation: Calculation
  readonly metrics: MetricsClient
  readonly namespace: string
  /** The target's status.replicas. */
  readonly statusReplicas: number
}

export interface MetricProposal {
  readonly replicas: number
  /** The metric's name in Events. */
  readonly metric: string
  readonly status: MetricStatus
}

/** A metric that proposes nothing. */
export interface FailedProposal {
  /** The reason of the Event and of the condition. */
  readonly reason: string
  readonly why: string
  /** The text in the message about all metrics. */
  readonly within: string
}

export async function proposalOf(
  context: ProposalContext,
  { type, resource, containerResource, pods, object, external }: MetricSpec,
): Promise<MetricProposal | FailedProposal> {
  if (type === 'Resource' && resource !== undefined) {
    const { name = '', target = {} } = resource
    return attempt('FailedGetResourceMetric', `failed to get ${name} resource metric value`, async () => {
      const { current, ...proposal } = await ofResource(context, name, '', target)
      return { ...proposal, status: { type, resource: { name, current } } }
    })
  }
  if (type === 'ContainerResource' && containerResource !== undefined) {
    const { name = '', container = '', target = {} } = containerResource
    const where = `failed to get ${container} container metric value`
    return attempt('FailedGetContainerResourceMetric', where, async () => {
      const { current, ...proposal } = await ofResource(context, name, container, target)
      return { ...proposal, status: { type, containerResource: { name, container, current } } }
    })
  }
  if (type === 'Pods' && pods !== undefined) {
    const { metric = {}, target = {} } = pods
    return attempt('FailedGetPodsMetric', 'failed to get pods metric value', async () => {
      const { replicas, usage } = await ofPods(context, metric, target)
      const current = { averageValue: milliText(usage) }
      return { replicas, metric: `pods metric ${metric.name}`, status: { type, pods: { metric, current } } }
    })
  }
  if (type === 'Object' && object !== undefined) {
    const { describedObject = {}, metric = {}, target = {} } = object
    const where = 'failed to get object metric value'
    const isShare = target.type === 'AverageValue' && target.averageValue !== undefined
    const more = isShare ? `failed to get ${metric.name} object metric: ` : ''
    return attempt('FailedGetObjectMetric', where, () => ofObject(context, describedObject, metric, target), more)
  }
  if (type === 'External' && external !== undefined) {
    const { metric = {}, target = {} } = external
    const where = `failed to get ${metric.name} external metric value`
    const isAverage = target.averageValue !== undefined
    const more = isAverage
      ? `failed to get ${metric.name} external metric: `
      : `failed to get external metric ${metric.name}: `
    return attempt('FailedGetExternalMetric', where, () => ofExternal(context, metric, target), more)
  }
  const why = `unknown metric source type ${JSON.stringify(type ?? '')}`
  return { reason: 'InvalidMetricSourceType', why, within: why }
}

/** @param more the text before the error in the message about all metrics */
async function attempt(
  reason: string,
  where: string,
  propose: () => Promise<MetricProposal>,
  more = '',
): Promise<MetricProposal | FailedProposal> {
  try {
    return await propose()
  } catch (error) {
    if (!(error instanceof MetricFailure)) throw error
    return { reason, why: error.message, within: `${where}: ${more}${error.message}` }
  }
}

const milliText = (value: bigint, resource = ''): string =>
  Quantity.ofMilli(value, resource === 'memory' ? 'BinarySI' : 'DecimalSI').toString()

const milliOf = (amount: string): bigint => Quantity.parse(amount).scaledValue(-3)

async function ofResource(
  { calculation, metrics }: ProposalContext,
  resource: string,
  container: string,
  { averageValue, averageUtilization }: MetricTarget,
): Promise<{ replicas: number; metric: string; current: MetricValueStatus }> {
  const found = (text: string) =>
    said(`failed to get ${resource} ${text}`, () =>
      said(`unable to get metrics for resource ${resource}`, () => metrics.resource(resource, container)),
    )
  if (averageValue !== undefined) {
    const values = await found('usage')
    const { replicas, usage } = await said(`failed to get ${resource} usage`, async () =>
      averageProposal(calculation, values, milliOf(averageValue), resource === 'cpu'),
    )
    return { replicas, metric: `${resource} resource`, current: { averageValue: milliText(usage, resource) } }
  }
  if (averageUtilization === undefined)
    throw new MetricFailure(
      'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
    )
  const values = await found('utilization')
  const {
    replicas,
    usage,
    utilization = 0,
  } = await said(`failed to get ${resource} utilization`, async () =>
    utilizationProposal(calculation, values, { resource, container, target: averageUtilization }),
  )
  const kind = container === '' ? 'resource' : 'container resource'
  return {
    replicas,
    metric: `${resource} ${kind} utilization (percentage of request)`,
    current: { averageUtilization: utilization, averageValue: milliText(usage, resource) },
  }
}

async function ofPods(
  { calculation, metrics }: ProposalContext,
  metric: MetricIdentifier,
  { averageValue = '0' }: MetricTarget,
): Promise<Proposal> {
  const values = await said(`unable to get metric ${metric.name}`, () => metrics.ofPods(metric))
  return averageProposal(calculation, values, milliOf(averageValue), false)
}

async function ofObject(
  { calculation, metrics, namespace, statusReplicas }: ProposalContext,
  object: CrossVersionObjectReference,
  metric: MetricIdentifier,
  { type, value, averageValue }: MetricTarget,
): Promise<MetricProposal> {
  // kube-controller-manager too puts the reason where the name belongs
  const found = () =>
    said(
      `unable to get metric ${metric.name}: ${object.kind} on ${namespace} ${object.name}`,
      () => metrics.ofObject(object, metric),
      '/',
    )
  const status = (current: MetricValueStatus): MetricStatus => ({
    type: 'Object',
    object: { describedObject: object, metric, current },
  })
  if (type === 'Value' && value !== undefined) {
    const { replicas, usage } = valueProposal(calculation, await found(), milliOf(value))
    return { replicas, metric: `${object.kind} metric ${metric.name}`, status: status({ value: milliText(usage) }) }
  }
  if (type === 'AverageValue' && averageValue !== undefined) {
    const { tolerances } = calculation
    const { replicas, usage } = shareProposal(tolerances, statusReplicas, await found(), milliOf(averageValue))
    return { replicas, metric: externalName(metric), status: status({ averageValue: milliText(usage) }) }
  }
  throw new MetricFailure('invalid object metric source: neither a value target nor an average value target was set')
}

async function ofExternal(
  { calculation, metrics, namespace, statusReplicas }: ProposalContext,
  metric: MetricIdentifier,
  { value, averageValue }: MetricTarget,
): Promise<MetricProposal> {
  const found = async () =>
    total(
      await said(`unable to get external metric ${namespace}/${metric.name}/${selectorOf(metric)}`, () =>
        metrics.external(metric),
      ),
    )
  const status = (current: MetricValueStatus): MetricStatus => ({ type: 'External', external: { metric, current } })
  if (averageValue !== undefined) {
    const { tolerances } = calculation
    const { replicas, usage } = shareProposal(tolerances, statusReplicas, await found(), milliOf(averageValue))
    return { replicas, metric: externalName(metric), status: status({ averageValue: milliText(usage) }) }
  }
  if (value !== undefined) {
    const { replicas, usage } = valueProposal(calculation, await found(), milliOf(value))
    return { replicas, metric: externalName(metric), status: status({ value: milliText(usage) }) }
  }
  throw new MetricFailure('invalid external metric source: neither a value target nor an average value target was set')
}

const selectorOf = ({ selector }: MetricIdentifier): string =>
  selector === undefined ? 'nil' : selectorDebugText(selector)

const externalName = (metric: MetricIdentifier): string => `external metric ${metric.name}(${selectorOf(metric)})`

/** Puts the attempted step before a failure's message. */
async function said<Found>(what: string, find: () => Promise<Found>, between = ': '): Promise<Found> {
  try {
    return await find()
  } catch (error) {
    throw error instanceof MetricFailure ? new MetricFailure(`${what}${between}${error.message}`) : error
  }
}
