/**
 * Computes the replicas for a metric (kube-controller-manager's ReplicaCalculator). Values are thousandths. Unready
 * pods, and pods without a value, never make a change greater.
 */
import type { Pod } from '../../../api/core/v1.ts'
import { ownValue } from '../../../base/own.ts'
import { podAmounts } from '../../../registry/quota/pod-resources.ts'
import { Quantity } from '../../../schema/quantity.ts'
import { WINDOW_SECONDS } from '../../simulation/usage.ts'
import { isReady, isTerminating, podCondition } from '../pods/pod-state.ts'

/** Why a metric proposes nothing, in kube-controller-manager's words. */
export class MetricFailure extends Error {
  override readonly name = 'MetricFailure'
}

export interface PodMetric {
  /** Milliseconds since 1970. */
  readonly timestamp: number
  /** The time that the value covers, in milliseconds. */
  readonly window: number
  readonly value: bigint
}

/** Metrics by the names of pods. */
export type PodMetrics = ReadonlyMap<string, PodMetric>

/** How much a value may differ from the target, as parts of the target. */
export interface Tolerances {
  readonly down: number
  readonly up: number
}

/** The pods and the limits that the computation reads. */
export interface Calculation {
  /** The target's spec.replicas. */
  readonly current: number
  readonly tolerances: Tolerances
  /** The pods that the target's selector selects. */
  readonly pods: readonly Pod[]
  readonly now: number
}

export interface Proposal {
  readonly replicas: number
  /** The average of the counted pods, or the whole value. */
  readonly usage: bigint
  /** The usage in per cent of the requests. */
  readonly utilization?: number
}

/**
 * The defaults of kube-controller-manager's --horizontal-pod-autoscaler-cpu-initialization-period and
 * -initial-readiness-delay.
 */
const CPU_INITIALIZATION_MS = 300_000
const READINESS_DELAY_MS = 30_000
const MAX_INT32 = 2 ** 31 - 1
const MAX_INT64 = 2n ** 63n - 1n

const isWithin = ({ down, up }: Tolerances, ratio: number): boolean => 1 - down <= ratio && ratio <= 1 + up

const ceiled = (replicas: number): number => Math.min(Math.ceil(replicas), MAX_INT32)

interface Measure {
  readonly ratio: number
  readonly usage: bigint
  readonly utilization?: number
}

interface Measuring {
  measure(values: ReadonlyMap<string, bigint>): Measure
  /** The assumed value of a pod without a value, when the other pods are below the target. */
  whenMissing(pod: string): bigint
}

/** The proposal for a target in per cent of the requests. @throws MetricFailure */
export function utilizationProposal(
  calculation: Calculation,
  metrics: PodMetrics,
  { resource, container, target }: { readonly resource: string; readonly container: string; readonly target: number },
): Proposal {
  return podsProposal(calculation, metrics, resource === 'cpu', () => {
    const requests = requestsOf(calculation.pods, container, resource)
    return {
      measure: (values) => utilizationOf(values, requests, target),
      whenMissing: (pod) => ((requests.get(pod) ?? 0n) * BigInt(Math.max(100, target))) / 100n,
    }
  })
}

/** The proposal for an average. @param isCpu whether to skip values of pods that just start. @throws MetricFailure */
export function averageProposal(
  calculation: Calculation,
  metrics: PodMetrics,
  target: bigint,
  isCpu: boolean,
): Proposal {
  return podsProposal(calculation, metrics, isCpu, () => ({
    measure(values) {
      const usage = sum(values.values()) / BigInt(values.size)
      return { ratio: Number(usage) / Number(target), usage }
    },
    whenMissing: () => target,
  }))
}

function utilizationOf(
  values: ReadonlyMap<string, bigint>,
  requests: ReadonlyMap<string, bigint>,
  target: number,
): Measure {
  const known = [...values].filter(([pod]) => requests.has(pod))
  const total = sum(known.map(([, value]) => value))
  const requested = sum(known.map(([pod]) => requests.get(pod)!))
  if (requested === 0n) throw new MetricFailure('no metrics returned matched known pods')
  const utilization = Number((total * 100n) / requested)
  return { ratio: utilization / target, usage: total / BigInt(known.length), utilization }
}

function podsProposal(
  { current, tolerances, pods, now }: Calculation,
  metrics: PodMetrics,
  isCpu: boolean,
  measuring: () => Measuring,
): Proposal {
  requirePods(pods)
  const { ready, unready, missing, ignored } = groupPods(pods, metrics, isCpu, now)
  const values = new Map([...metrics].map(([pod, { value }]) => [pod, value]))
  for (const pod of [...ignored, ...unready]) values.delete(pod)
  if (values.size === 0) throw new MetricFailure('did not receive metrics for targeted pods (pods might be unready)')
  const { measure, whenMissing } = measuring()
  const { ratio, ...average } = measure(values)
  const stays: Proposal = { replicas: current, ...average }
  const countsUnready = unready.size > 0 && ratio > 1
  if (!countsUnready && missing.size === 0)
    return isWithin(tolerances, ratio) ? stays : { replicas: ceiled(ratio * ready), ...average }
  if (ratio < 1) for (const pod of missing) values.set(pod, whenMissing(pod))
  if (ratio > 1) for (const pod of missing) values.set(pod, 0n)
  if (countsUnready) for (const pod of unready) values.set(pod, 0n)
  const { ratio: next } = measure(values)
  const turns = (ratio < 1 && next > 1) || (ratio > 1 && next < 1)
  if (isWithin(tolerances, next) || turns) return stays
  const replicas = ceiled(next * values.size)
  // the number of counted pods must not reverse the direction either
  if ((next < 1 && replicas > current) || (next > 1 && replicas < current)) return stays
  return { replicas, ...average }
}

/** The proposal for one value of all pods together. @throws MetricFailure */
export function valueProposal(calculation: Calculation, usage: bigint, target: bigint): Proposal {
  const { current, tolerances, pods } = calculation
  const ratio = Number(usage) / Number(target)
  if (current === 0) return { replicas: ceiled(ratio), usage }
  if (isWithin(tolerances, ratio)) return { replicas: current, usage }
  try {
    requirePods(pods)
  } catch (error) {
    if (error instanceof MetricFailure) throw new MetricFailure(`unable to calculate ready pods: ${error.message}`)
    throw error
  }
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isReady(pod)).length
  return { replicas: ceiled(ratio * ready), usage }
}

/** The proposal for a value divided by the pods. @param replicas the target's status.replicas */
export function shareProposal(tolerances: Tolerances, replicas: number, usage: bigint, target: bigint): Proposal {
  const ratio = Number(usage) / (Number(target) * replicas)
  return {
    replicas: isWithin(tolerances, ratio) ? replicas : ceiled(Number(usage) / Number(target)),
    usage: replicas === 0 || usage >= MAX_INT64 ? usage : BigInt(Math.ceil(Number(usage) / replicas)),
  }
}

/** The sum of the values, at most the largest int64. */
export const total = (values: readonly bigint[]): bigint => {
  const all = sum(values)
  return all > MAX_INT64 ? MAX_INT64 : all
}

function sum(values: Iterable<bigint>): bigint {
  let all = 0n
  for (const value of values) all += value
  return all
}

function requirePods(pods: readonly Pod[]): void {
  if (pods.length === 0) throw new MetricFailure('no pods returned by selector while calculating replica count')
}

interface PodGroups {
  readonly ready: number
  readonly unready: ReadonlySet<string>
  readonly missing: ReadonlySet<string>
  readonly ignored: ReadonlySet<string>
}

export function groupPods(pods: readonly Pod[], metrics: PodMetrics, isCpu: boolean, now: number): PodGroups {
  const [unready, missing, ignored] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let ready = 0
  for (const pod of pods) {
    const { name = '' } = pod.metadata
    const metric = metrics.get(name)
    if (isTerminating(pod) || pod.status?.phase === 'Failed') ignored.add(name)
    else if (pod.status?.phase === 'Pending') unready.add(name)
    else if (metric === undefined) missing.add(name)
    else if (isCpu && isStarting(pod, metric, now)) unready.add(name)
    else ready++
  }
  return { ready, unready, missing, ignored }
}

const at = (time: string | undefined): number => (time === undefined ? -Infinity : Date.parse(time))

/** Whether a pod is starting: its CPU usage does not show its load then. */
function isStarting(pod: Pod, { timestamp, window }: PodMetric, now: number): boolean {
  const condition = podCondition(pod, 'Ready')
  const { startTime } = pod.status ?? {}
  if (condition === undefined || startTime === undefined) return true
  const isUnready = condition.status === 'False'
  const since = at(condition.lastTransitionTime)
  if (at(startTime) + CPU_INITIALIZATION_MS > now) return isUnready || timestamp < since + window
  // the pod was never ready
  return isUnready && at(startTime) + READINESS_DELAY_MS > since
}

/**
 * When the CPU usage of a starting pod begins to count if the pod does not change, in milliseconds since 1970.
 * Undefined: the pod does not run, or has no condition Ready.
 */
export function usageCountsFrom(pod: Pod): number | undefined {
  const condition = podCondition(pod, 'Ready')
  const { startTime, phase } = pod.status ?? {}
  if (phase !== 'Running' || condition === undefined) return undefined
  // one second more, as times are cut to whole seconds
  const window = (WINDOW_SECONDS + 1) * 1000
  return condition.status === 'False'
    ? at(startTime) + CPU_INITIALIZATION_MS
    : at(condition.lastTransitionTime) + window
}

/** @param container '' for all containers. @throws MetricFailure for a container that requests nothing */
function requestsOf(pods: readonly Pod[], container: string, resource: string): Map<string, bigint> {
  return new Map(
    pods.map((pod) => [
      pod.metadata.name ?? '',
      container === '' && hasOwnRequests(pod) ? podRequest(pod, resource) : containerRequests(pod, container, resource),
    ]),
  )
}

const hasOwnRequests = ({ spec }: Pod): boolean => Object.keys(spec?.resources?.requests ?? {}).length > 0

function podRequest(pod: Pod, resource: string): bigint {
  const request = podAmounts(pod, 'requests').get(resource)
  if (request === undefined)
    throw new MetricFailure(`missing pod-level request for ${resource} in Pod ${pod.metadata.name}`)
  return request.scaledValue(-3)
}

function containerRequests({ metadata, spec }: Pod, container: string, resource: string): bigint {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  let all = 0n
  for (const { name = '', resources } of [...(spec?.containers ?? []), ...sidecars]) {
    if (container !== '' && container !== name) continue
    const request = ownValue(resources?.requests, resource)
    if (request === undefined)
      throw new MetricFailure(`missing request for ${resource} in container ${name} of Pod ${metadata.name}`)
    all += Quantity.parse(request).scaledValue(-3)
    if (container === name) return all
  }
  if (container !== '') throw new MetricFailure(`container ${container} not found in Pod ${metadata.name}`)
  return all
}
