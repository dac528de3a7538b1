/**
 * The affinity terms of pods on nodes, by what they say. Replicas of a workload share theirs, so a cycle compares each
 * term once with its pod, and not once for each replica.
 */
import type { NodeState } from './node-state.ts'
import type { PodInfo, Term, Terms } from './pod-info.ts'

export interface RunningTerm {
  readonly term: Term
  /** By the name of the node: the number of its pods with the term. Never empty. */
  readonly on: Map<string, number>
}

type Kind = keyof Terms
const KINDS = ['requiredAffinity', 'requiredAntiAffinity', 'preferredAffinity', 'preferredAntiAffinity'] as const

export class RunningTerms {
  /** Bound: the terms of the pods that the scheduler knows. */
  private readonly known: Readonly<Record<Kind, Map<string, RunningTerm>>> = {
    requiredAffinity: new Map(),
    requiredAntiAffinity: new Map(),
    preferredAffinity: new Map(),
    preferredAntiAffinity: new Map(),
  }

  /** Those of the pods of these nodes. */
  static of(nodes: Iterable<NodeState>): RunningTerms {
    const terms = new RunningTerms()
    for (const node of nodes) for (const pod of node.pods.values()) terms.count(pod, node.name, 1)
    return terms
  }

  /** A pod comes to a node, or goes. */
  count({ terms }: PodInfo, node: string, by: 1 | -1): void {
    for (const kind of KINDS) for (const term of terms[kind]) countIn(this.known[kind], term, node, by)
  }

  all(kind: Kind): Iterable<RunningTerm> {
    return this.known[kind].values()
  }
}

function countIn(known: Map<string, RunningTerm>, term: Term, node: string, by: 1 | -1): void {
  const running = known.get(term.text) ?? { term, on: new Map<string, number>() }
  const left = (running.on.get(node) ?? 0) + by
  if (left > 0) running.on.set(node, left)
  else running.on.delete(node)
  if (running.on.size > 0) known.set(term.text, running)
  else known.delete(term.text)
}
