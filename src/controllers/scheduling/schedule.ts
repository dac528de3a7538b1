/** Chooses a node for a pod, or says why there is none. */
import type { Cycle, Refusal } from './filters.ts'
import { refusalOf } from './filters.ts'
import type { NodeState } from './node-state.ts'
import { best } from './scores.ts'

export type Choice = { readonly node: NodeState } | { readonly refusals: ReadonlyMap<NodeState, Refusal> }

export function choose(cycle: Cycle): Choice {
  const refusals = new Map<NodeState, Refusal>()
  const fit: NodeState[] = []
  for (const node of cycle.nodes) {
    const refusal = refusalOf(cycle, node)
    if (refusal === undefined) fit.push(node)
    else refusals.set(node, refusal)
  }
  return fit.length > 0 ? { node: best(cycle, fit) } : { refusals }
}

/** As kube-scheduler says it. */
export function failureMessage(refusals: ReadonlyMap<NodeState, Refusal>): string {
  const all = refusals.size
  if (all === 0) return 'no nodes available to schedule pods'
  const counts = new Map<string, number>()
  for (const { reasons } of refusals.values())
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const listed = [...counts].map(([reason, count]) => `${count} ${reason}`).sort()
  return `0/${all} nodes are available: ${listed.join(', ')}. ${preemptionMessage(refusals)}`
}

function preemptionMessage(refusals: ReadonlyMap<NodeState, Refusal>): string {
  const all = refusals.size
  const helpless = [...refusals.values()].filter(({ forGood }) => forGood).length
  const parts = [
    ...(all === helpless ? [] : [`${all - helpless} No preemption victims found for incoming pod`]),
    ...(helpless === 0 ? [] : [`${helpless} Preemption is not helpful for scheduling`]),
  ]
  return `preemption: 0/${all} nodes are available: ${parts.sort().join(', ')}.`
}
