/**
 * Why the kubelet of a simulated node refuses a pod: a client bound it without a scheduler, or the node has changed
 * since (the kubelet's predicates). No machine is behind the node, so reasons that only a machine knows never occur.
 */
import type { Node, Pod, PodStatus } from '../../api/core/v1.ts'
import { ownValue } from '../../base/own.ts'
import { Quantity } from '../../schema/quantity.ts'
import { timeText } from '../../schema/time.ts'
import { isExtended } from '../../validation/pod/resources.ts'
import { isWanted } from '../scheduling/node-selector.ts'
import { amountOf } from '../scheduling/pod-info.ts'
import { untolerated } from '../scheduling/taints.ts'
import type { NodeUse, PodUse } from './node-use.ts'
import type { Shortage } from './preemption.ts'
import { isCritical, PODS, victimsFor } from './preemption.ts'

export interface Rejection {
  readonly reason: string
  readonly message: string
}

/** The kubelet admits the pod after these pods of the node have ended. */
export interface Preemption {
  /** NAMESPACE/NAME. */
  readonly victims: readonly string[]
}

const SYSTEM = 'linux'
const OS_LABEL = 'kubernetes.io/os'

/** @param others the pods that the node has admitted */
export function rejectionOf(pod: Pod, use: PodUse, node: Node, others: NodeUse): Rejection | Preemption | undefined {
  const { spec = {}, metadata } = pod
  if ((ownValue(metadata.labels, OS_LABEL) ?? SYSTEM) !== SYSTEM)
    return {
      reason: 'PodOSSelectorNodeLabelDoesNotMatch',
      message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    }
  if ((spec.os?.name ?? SYSTEM) !== SYSTEM)
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" }
  const shortages = shortagesOf(pod, use, node, others)
  const [first] = shortages
  if (first !== undefined && !isCritical(use)) return first.rejection
  if (!isWanted(spec, node)) return failed('NodeAffinity', "node(s) didn't match Pod's node affinity/selector")
  if (use.ports.some((port) => others.isPortTaken(port)))
    return failed('NodePorts', "node(s) didn't have free ports for the requested pod ports")
  if (untolerated(node.spec?.taints, spec.tolerations, ['NoExecute']).length > 0)
    return failed('TaintToleration', "node(s) had taints that the pod didn't tolerate")
  if (first === undefined) return undefined
  const victims = victimsFor(use, shortages, others)
  return typeof victims === 'string' ? { reason: 'UnexpectedAdmissionError', message: victims } : { victims }
}

const failed = (reason: string, why: string): Rejection => ({ reason, message: `Predicate ${reason} failed: ${why}` })

const FIRST = ['cpu', 'memory', 'ephemeral-storage']

interface Insufficient extends Shortage {
  readonly rejection: Rejection
}

function shortagesOf(pod: Pod, { needs }: PodUse, node: Node, others: NodeUse): readonly Insufficient[] {
  const allocatable = node.status?.allocatable
  // a new node does not report resources yet
  if (allocatable === undefined) return []
  const capacityOf = (name: string) =>
    amountOf(name, Quantity.tryParse(ownValue(allocatable, name) ?? '0') ?? Quantity.zero)
  const mapped = new Set(
    pod.status?.extendedResourceClaimStatus?.requestMappings?.map(({ resourceName }) => resourceName),
  )
  // a resource that the node does not list may be counted by another program, or a claim provides it
  const isAsked = (name: string) =>
    !mapped.has(name) && !(isExtended(name) && ownValue(allocatable, name) === undefined)
  const shortages: Insufficient[] = []
  const compare = (resource: string, wanted: number, used: number, capacity: number): void => {
    const missing = wanted - (capacity - used)
    if (missing > 0) shortages.push({ resource, missing, rejection: outOf(resource, wanted, used, capacity) })
  }
  compare(PODS, 1, others.size, capacityOf(PODS))
  for (const name of new Set([...FIRST, ...needs.keys()])) {
    const wanted = needs.get(name) ?? 0
    if (wanted > 0 && isAsked(name)) compare(name, wanted, others.used(name), capacityOf(name))
  }
  return shortages
}

const outOf = (name: string, requested: number, used: number, capacity: number): Rejection => ({
  reason: `OutOf${name}`,
  message: `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
})

const OF_KUBELETS: ReadonlySet<string> = new Set([
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'PodResizeInProgress',
  'PodResizePending',
  'PodReadyToStartContainers',
  'AllContainersRestarting',
])

/** The status of a refused pod. It keeps the fields that other clients wrote. */
export function rejectedStatus({ metadata, status = {} }: Pod, { reason, message }: Rejection, now: Date): PodStatus {
  const { qosClass, resourceClaimStatuses, extendedResourceClaimStatus } = status
  const conditions = (status.conditions ?? []).filter(({ type = '' }) => !OF_KUBELETS.has(type))
  return {
    ...(qosClass === undefined ? {} : { qosClass }),
    ...(resourceClaimStatuses === undefined ? {} : { resourceClaimStatuses }),
    ...(extendedResourceClaimStatus === undefined ? {} : { extendedResourceClaimStatus }),
    ...(conditions.length === 0 ? {} : { conditions }),
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    phase: 'Failed',
    reason,
    message: `Pod was rejected: ${message}`,
    startTime: timeText(now),
  }
}
