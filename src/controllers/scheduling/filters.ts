/**
 * Which nodes a pod can run on, as the plug-ins of kube-scheduler's default profile filter them, in their order. The first
 * that refuses a node says why.
 */
import type { Pod } from '../../api/core/v1.ts'
import { ownValue } from '../../api/own.ts'
import type { Needs, NodeState } from './node-state.ts'
import { hostPorts, needsOf, portConflict } from './node-state.ts'
import { isWanted } from './node-selector.ts'
import type { NamespaceLabels } from './pod-terms.ts'
import { affinityTerms, antiAffinityTerms, selects } from './pod-terms.ts'
import type { Counted } from './topology-spread.ts'
import { countedConstraints, spreadProblem } from './topology-spread.ts'
import { lazy } from '../../api/lazy.ts'
import { tolerates, untolerated } from './taints.ts'

/** What matching pods are counted by. */
export interface Counting {
  readonly pod: Pod
  readonly nodes: readonly NodeState[]
}

/** What is worked out once for a pod and asked for each node. */
export interface Cycle extends Counting {
  readonly needs: Needs
  readonly namespaces: NamespaceLabels
  readonly spread: () => readonly Counted[]
}

export const newCycle = (pod: Pod, nodes: readonly NodeState[], namespaces: NamespaceLabels): Cycle => ({
  pod,
  needs: needsOf(pod),
  nodes,
  namespaces,
  spread: lazy(() => countedConstraints({ pod, nodes })),
})

/** Why not; nothing: it may. Removing pods from the node would not help where it is `forGood`. */
export interface Refusal {
  readonly reasons: readonly string[]
  readonly forGood: boolean
}

type Filter = (cycle: Cycle, node: NodeState) => Refusal | undefined

const forGood = (reason: string): Refusal => ({ reasons: [reason], forGood: true })
const forNow = (...reasons: string[]): Refusal => ({ reasons, forGood: false })

const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

const unschedulable: Filter = ({ pod }, { node }) => {
  if (node.spec?.unschedulable !== true) return undefined
  const isTolerated = (pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, UNSCHEDULABLE))
  return isTolerated ? undefined : forGood('node(s) were unschedulable')
}

const taints: Filter = ({ pod }, { node }) =>
  untolerated(node.spec?.taints, pod.spec?.tolerations, ['NoSchedule', 'NoExecute']).length === 0
    ? undefined
    : forGood('node(s) had untolerated taint(s)')

const nodeAffinity: Filter = ({ pod }, { node }) =>
  isWanted(pod.spec ?? {}, node) ? undefined : forGood("node(s) didn't match Pod's node affinity/selector")

const ports: Filter = ({ pod }, node) =>
  hostPorts(pod).some((port) => portConflict(port, node.ports))
    ? forNow("node(s) didn't have free ports for the requested pod ports")
    : undefined

const resources: Filter = ({ needs }, node) => {
  const reasons: string[] = []
  let neverFits = false
  if (node.pods.length + 1 > (node.allocatable.get('pods') ?? 0)) reasons.push('Too many pods')
  for (const [name, wanted] of needs) {
    if (wanted === 0 || wanted <= node.free(name)) continue
    reasons.push(`Insufficient ${name}`)
    if (wanted > (node.allocatable.get(name) ?? 0)) neverFits = true
  }
  return reasons.length === 0 ? undefined : { reasons, forGood: neverFits }
}

const topologySpread: Filter = (cycle, node) => {
  const problem = spreadProblem(cycle, node)
  return problem && { reasons: [problem.reason], forGood: problem.forGood }
}

/** Pods on all nodes that share a node's value of the topology key. */
function* neighbours({ nodes }: Cycle, { node }: NodeState, topologyKey: string): Generator<Pod> {
  const value = ownValue(node.metadata.labels, topologyKey)
  if (value === undefined) return
  for (const other of nodes) if (ownValue(other.node.metadata.labels, topologyKey) === value) yield* other.pods
}

const some = (pods: Iterable<Pod>, test: (pod: Pod) => boolean): boolean => {
  for (const pod of pods) if (test(pod)) return true
  return false
}

const podAffinity: Filter = (cycle, node) => {
  const { pod, namespaces } = cycle
  const terms = affinityTerms(pod)
  if (terms.length === 0) return undefined
  const labels = node.node.metadata.labels
  const refused = forGood("node(s) didn't match pod affinity rules")
  // few: the terms of one pod
  if (!terms.every(({ topologyKey = '' }) => ownValue(labels, topologyKey) !== undefined)) return refused
  // few: the terms of one pod
  const matchesAll = (other: Pod) => terms.every((term) => selects(term, pod, other, namespaces))
  if (terms.every(({ topologyKey = '' }) => some(neighbours(cycle, node, topologyKey), matchesAll))) return undefined
  // the first of a group that wants to be together finds nobody there
  const isFirst = matchesAll(pod) && !cycle.nodes.some(({ pods }) => pods.some(matchesAll))
  return isFirst ? undefined : refused
}

const podAntiAffinity: Filter = (cycle, node) => {
  const { pod, namespaces } = cycle
  for (const term of antiAffinityTerms(pod))
    if (some(neighbours(cycle, node, term.topologyKey ?? ''), (other) => selects(term, pod, other, namespaces)))
      return forNow("node(s) didn't match pod anti-affinity rules")
  return undefined
}

/** What the pods that run have against this one. */
const othersAntiAffinity: Filter = ({ pod, nodes, namespaces }, { node }) => {
  for (const other of nodes)
    for (const there of other.pods)
      for (const term of antiAffinityTerms(there)) {
        const key = term.topologyKey ?? ''
        const value = ownValue(other.node.metadata.labels, key)
        if (value === undefined || ownValue(node.metadata.labels, key) !== value) continue
        if (selects(term, there, pod, namespaces))
          return forNow("node(s) didn't satisfy existing pods anti-affinity rules")
      }
  return undefined
}

const filters: readonly Filter[] = [
  unschedulable,
  taints,
  nodeAffinity,
  ports,
  resources,
  topologySpread,
  othersAntiAffinity,
  podAntiAffinity,
  podAffinity,
]

export function refusalOf(cycle: Cycle, node: NodeState): Refusal | undefined {
  for (const filter of filters) {
    const refusal = filter(cycle, node)
    if (refusal !== undefined) return refusal
  }
  return undefined
}
