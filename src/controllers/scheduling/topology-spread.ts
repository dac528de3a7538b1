/** Whether a pod on a node would make its group lopsided (topology spread constraints, KEP-895). */
import { leastOf } from '../../api/extremes.ts'
import type { Pod, TopologySpreadConstraint } from '../../api/core/v1.ts'
import { ownValue } from '../../api/own.ts'
import { matchesLabels } from '../../storage/selection.ts'
import { requirementsOf } from '../workloads/pod-control.ts'
import type { Counting, Cycle } from './filters.ts'
import { isWanted } from './node-selector.ts'
import type { NodeState } from './node-state.ts'
import { untolerated } from './taints.ts'

const PROBLEM = "node(s) didn't match pod topology spread constraints"

export interface SpreadProblem {
  readonly reason: string
  readonly forGood: boolean
}

export const spreadConstraints = ({ spec }: Pod, action: string): readonly TopologySpreadConstraint[] =>
  (spec?.topologySpreadConstraints ?? []).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action)

/** Whether the node's pods are counted. */
function isCounted(constraint: TopologySpreadConstraint, pod: Pod, { node }: NodeState): boolean {
  const { nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' } = constraint
  if (nodeAffinityPolicy === 'Honor' && !isWanted(pod.spec ?? {}, node)) return false
  return (
    nodeTaintsPolicy !== 'Honor' ||
    untolerated(node.spec?.taints, pod.spec?.tolerations, ['NoSchedule', 'NoExecute']).length === 0
  )
}

/** Matching pods by the value of the topology key. */
export function countsOf(
  constraint: TopologySpreadConstraint,
  { pod, nodes }: Counting,
  keys: readonly string[],
): Map<string, number> {
  const selector = requirementsOf(constraint.labelSelector)
  const { topologyKey = '' } = constraint
  const counts = new Map<string, number>()
  for (const state of nodes) {
    const { labels } = state.node.metadata
    // few: the constraints of one pod
    if (!keys.every((key) => ownValue(labels, key) !== undefined) || !isCounted(constraint, pod, state)) continue
    const value = ownValue(labels, topologyKey)!
    const matching =
      constraint.labelSelector === undefined
        ? 0
        : state.pods.filter(
            ({ metadata }) =>
              metadata.namespace === pod.metadata.namespace &&
              metadata.deletionTimestamp === undefined &&
              matchesLabels(selector, metadata.labels ?? {}),
          ).length
    counts.set(value, (counts.get(value) ?? 0) + matching)
  }
  return counts
}

export interface Counted {
  readonly constraint: TopologySpreadConstraint
  readonly counts: ReadonlyMap<string, number>
}

/** What the pod's constraints that must hold are measured by: the same for all nodes. */
export function countedConstraints(cycle: Counting): readonly Counted[] {
  const constraints = spreadConstraints(cycle.pod, 'DoNotSchedule')
  const keys = constraints.map(({ topologyKey = '' }) => topologyKey)
  return constraints.map((constraint) => ({ constraint, counts: countsOf(constraint, cycle, keys) }))
}

export function spreadProblem(cycle: Cycle, { node }: NodeState): SpreadProblem | undefined {
  for (const { constraint, counts } of cycle.spread()) {
    const { topologyKey = '', maxSkew = 1, minDomains = 1, labelSelector } = constraint
    const value = ownValue(node.metadata.labels, topologyKey)
    if (value === undefined) return { reason: `${PROBLEM} (missing required label)`, forGood: true }
    const least = counts.size < minDomains ? 0 : leastOf(counts.values())
    const selector = requirementsOf(labelSelector)
    const isOwn = labelSelector !== undefined && matchesLabels(selector, cycle.pod.metadata.labels ?? {})
    const skew = (counts.get(value) ?? 0) + (isOwn ? 1 : 0) - (Number.isFinite(least) ? least : 0)
    if (skew > maxSkew) return { reason: PROBLEM, forGood: false }
  }
  return undefined
}
