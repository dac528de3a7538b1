import { durationOf } from '../../go/duration.ts'
import type { Container, Pod, PodAffinityTerm } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { qosClassOf } from '../../validation/pod/pod-qos.ts'
import { isHugePages, isNative } from '../../validation/pod/resources.ts'
import { DEVICE_CLASS_RESOURCE, isOfDevices } from '../resource/extended-claims.ts'
import type { Amounts } from './amounts.ts'
import { ONE, amountsOf } from './amounts.ts'
import type { Evaluator } from './evaluator.ts'
import { hasOwnResources, podAmounts } from './pod-resources.ts'
import { matchesNames } from './scopes.ts'

const COUNT = 'count/pods'
const OWN = new Set([
  COUNT,
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
])

/** If a quota limits one of these, each container must declare its amount. */
const REQUIRED = ['cpu', 'limits.cpu', 'limits.memory', 'memory', 'requests.cpu', 'requests.memory']

export const REQUESTS = 'requests.'
/** A quota's name for an extended resource, such as a device. */
export const isOfExtended = (name: string): boolean =>
  name.startsWith(REQUESTS) && (!isNative(name) || name.startsWith(REQUESTS + DEVICE_CLASS_RESOURCE))

// stored and admitted pods have the form of a pod
const podOf = (object: KubeObject): Pod => object as unknown as Pod

export const podEvaluator: Evaluator = {
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === 'resize') return operation === 'UPDATE'
    if (subresource !== '') return false
    return (
      operation === 'CREATE' || oldObject === undefined || hasDeadline(podOf(object)) !== hasDeadline(podOf(oldObject))
    )
  },
  tracks: (name) =>
    OWN.has(name) || isHugePages(name) || name.startsWith(`${REQUESTS}hugepages-`) || isOfExtended(name),
  matchesScope(scope, object) {
    const pod = podOf(object)
    const { priorityClassName = '' } = pod.spec ?? {}
    switch (scope.scopeName) {
      case 'Terminating':
        return hasDeadline(pod)
      case 'NotTerminating':
        return !hasDeadline(pod)
      case 'BestEffort':
        return qosOf(pod) === 'BestEffort'
      case 'NotBestEffort':
        return qosOf(pod) !== 'BestEffort'
      case 'PriorityClass':
        return matchesNames(scope, priorityClassName === '' ? [] : [priorityClassName])
      case 'CrossNamespacePodAffinity':
        return affinityTerms(pod).some(
          ({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined,
        )
      default:
        return false
    }
  },
  problem(names, object) {
    const pod = podOf(object)
    if (hasOwnResources(pod)) return undefined
    const asked = new Set(names)
    const required = REQUIRED.filter((name) => asked.has(name))
    const lacking = new Map<string, Set<string>>(required.map((name) => [name, new Set()]))
    for (const container of [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])]) {
      const said = usageOf(container)
      for (const name of required) if (!said.has(name)) lacking.get(name)!.add(container.name ?? '')
    }
    const missing = [...lacking]
      .filter(([, containers]) => containers.size > 0)
      .map(([name, containers]) => `${name} for: ${[...containers].sort().join(',')}`)
    return missing.length === 0 ? undefined : `must specify ${missing.join('; ')}`
  },
  usage(object, now) {
    const pod = podOf(object)
    const count: Amounts = new Map([[COUNT, ONE]])
    if (!isCharged(pod, now)) return count
    return new Map([...count, ...computeUsage(podAmounts(pod, 'requests'), podAmounts(pod, 'limits'))])
  },
  chargedUntil: (object) => (hasEnded(podOf(object)) ? undefined : endOf(podOf(object))),
  scopeOf: (object) => `${hasDeadline(podOf(object))} ${qosOf(podOf(object))}`,
}

const qosOf = ({ spec = {}, status }: Pod): string => status?.qosClass ?? qosClassOf(spec)

const hasDeadline = ({ spec }: Pod): boolean => (spec?.activeDeadlineSeconds ?? -1) >= 0

function affinityTerms({ spec }: Pod): PodAffinityTerm[] {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {}
  return [podAffinity, podAntiAffinity].flatMap((affinity) => [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(({ podAffinityTerm }) =>
      podAffinityTerm === undefined ? [] : [podAffinityTerm],
    ),
  ])
}

/** A pod that has finished uses nothing. Neither does a pod whose grace period is over. */
const isCharged = (pod: Pod, now: Date): boolean => !hasEnded(pod) && now.getTime() <= (endOf(pod) ?? Infinity)

const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded'

/** The end of the grace period of a pod that is being deleted. */
function endOf({ metadata: { deletionTimestamp, deletionGracePeriodSeconds } }: Pod): number | undefined {
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return undefined
  return Date.parse(deletionTimestamp) + durationOf(deletionGracePeriodSeconds)
}

const usageOf = ({ resources }: Container): Amounts =>
  computeUsage(amountsOf(resources?.requests), amountsOf(resources?.limits))

function computeUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage = new Map([['pods', ONE]])
  for (const [name, amount] of requests)
    if (['cpu', 'memory', 'ephemeral-storage'].includes(name) || isHugePages(name))
      usage.set(name, amount).set(REQUESTS + name, amount)
    else if (isOfDevices(name)) usage.set(REQUESTS + name, amount)
  for (const [name, amount] of limits)
    if (['cpu', 'memory', 'ephemeral-storage'].includes(name)) usage.set(`limits.${name}`, amount)
  return usage
}
