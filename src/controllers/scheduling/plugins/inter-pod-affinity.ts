/** InterPodAffinity: which pods must or should run together, and which apart. */
import { ownValue } from '../../../base/own.ts'
import type { PluginArgs } from '../../../configuration/scheduler/args.ts'
import { weightOf } from '../cycle-work.ts'
import type { Cycle, FilterPlugin, ScorePlugin } from '../framework.ts'
import { forGood, forNow } from '../framework.ts'
import type { NodeState } from '../node-state.ts'
import { between } from '../normalize.ts'
import type { PodInfo, Term, Terms } from '../pod-info.ts'
import type { Steps } from '../../../base/slices.ts'

/**
 * `hardPodAffinityWeight`: the weight of a running pod's required term, in the score of a node for a pod that it
 * selects.
 */
type InterPodAffinityArgs = PluginArgs['InterPodAffinity']

/** So many topology keys are asked for without a look at the node's labels. */
const FEW = 8

/** Numbers by the key and the value of a topology label. */
class Domains {
  private readonly keys = new Map<string, Map<string, number>>()

  add(key: string, { labels }: NodeState, by: number): void {
    const value = ownValue(labels, key)
    if (value === undefined) return
    const values = this.keys.get(key) ?? new Map<string, number>()
    const sum = (values.get(value) ?? 0) + by
    if (sum === 0) values.delete(value)
    else values.set(value, sum)
    if (values.size === 0) this.keys.delete(key)
    else this.keys.set(key, values)
  }

  of(key: string, { labels }: NodeState): number {
    const value = ownValue(labels, key)
    return value === undefined ? 0 : (this.keys.get(key)?.get(value) ?? 0)
  }

  get isEmpty(): boolean {
    return this.keys.size === 0
  }

  get size(): number {
    return this.keys.size
  }

  /** The sum over all topology keys for the node's values. */
  sum(node: NodeState): number {
    let sum = 0
    for (const key of this.keysOf(node)) sum += this.of(key, node)
    return sum
  }

  /** Whether some topology key has a number above 0 for the node's value. */
  hits(node: NodeState): boolean {
    for (const key of this.keysOf(node)) if (this.of(key, node) > 0) return true
    return false
  }

  /** The topology keys, or the node's labels if these are fewer: others count nothing for the node. */
  private keysOf({ labels }: NodeState): Iterable<string> {
    if (this.keys.size <= FEW) return this.keys.keys()
    const own = Object.keys(labels)
    return own.length < this.keys.size ? own : this.keys.keys()
  }
}

/** Adds the terms of running pods that select the pod, to the domains of their nodes. */
function* addRunning(
  { info, node, namespaces, terms, work }: Cycle,
  kind: keyof Terms,
  domains: Domains,
  weigh: (term: Term) => number,
): Steps<void> {
  for (const { term, on } of terms.all(kind)) {
    if (work.isStepOver(weightOf(term.text.length))) yield
    if (!term.selects(info, namespaces)) continue
    for (const [name, count] of on) {
      const there = node(name)
      if (there !== undefined) domains.add(term.topologyKey, there, count * weigh(term))
      if (work.isStepOver()) yield
    }
  }
}

export const interPodAffinity = ({
  hardPodAffinityWeight,
  ignorePreferredTermsOfExistingPods,
}: InterPodAffinityArgs): FilterPlugin & ScorePlugin => ({
  name: 'InterPodAffinity',

  isHelpedByPod({ info }, { before, now }) {
    const { requiredAffinity, requiredAntiAffinity } = info.terms
    const isWanted = (pod: PodInfo) =>
      requiredAffinity.length > 0 && requiredAffinity.every((term) => term.maySelect(pod))
    if (now !== undefined && isWanted(now)) return true
    if (before === undefined) return false
    return (
      // the first pod of a group with affinity to itself finds no other pod, and is accepted
      isWanted(before) ||
      requiredAntiAffinity.some((term) => term.maySelect(before)) ||
      before.terms.requiredAntiAffinity.some((term) => term.maySelect(info))
    )
  },

  *begin(cycle) {
    const { info, nodes, namespaces, work } = cycle
    const { requiredAffinity, requiredAntiAffinity } = info.terms
    const [wanted, unwanted, against] = [new Domains(), new Domains(), new Domains()]
    const matchesAll = (pod: PodInfo) =>
      requiredAffinity.length > 0 && requiredAffinity.every((term) => term.selects(pod, namespaces))
    const moveOwn = (pod: PodInfo, node: NodeState, by: 1 | -1) => {
      if (matchesAll(pod)) for (const { topologyKey } of requiredAffinity) wanted.add(topologyKey, node, by)
      for (const term of requiredAntiAffinity)
        if (term.selects(pod, namespaces)) unwanted.add(term.topologyKey, node, by)
    }
    const moved = (pod: PodInfo, node: NodeState, by: 1 | -1) => {
      for (const term of pod.terms.requiredAntiAffinity)
        if (term.selects(info, namespaces)) against.add(term.topologyKey, node, by)
      moveOwn(pod, node, by)
    }
    yield* addRunning(cycle, 'requiredAntiAffinity', against, () => 1)
    const looksAtAll = requiredAffinity.length > 0 || requiredAntiAffinity.length > 0
    for (const node of looksAtAll ? nodes : [])
      for (const pod of node.pods.values()) {
        moveOwn(pod, node, 1)
        if (work.isStepOver(info.termsWeight)) yield
      }
    if (!looksAtAll && against.isEmpty) return undefined
    const apart = forGood("node(s) didn't match pod affinity rules")
    const beside = forNow("node(s) didn't match pod anti-affinity rules")
    const refusedThere = forNow("node(s) didn't satisfy existing pods anti-affinity rules")
    return {
      weight: weightOf(info.rules) + against.size,
      refuses(node) {
        if (!isBesideWanted(node, requiredAffinity, wanted, () => matchesAll(info))) return apart
        if (requiredAntiAffinity.some(({ topologyKey }) => unwanted.of(topologyKey, node) > 0)) return beside
        return against.hits(node) ? refusedThere : undefined
      },
      moved,
    }
  },

  *score(cycle, nodes) {
    const { info, nodes: all, namespaces, work } = cycle
    const { preferredAffinity, preferredAntiAffinity } = info.terms
    const looksAtAll = preferredAffinity.length > 0 || preferredAntiAffinity.length > 0
    if (ignorePreferredTermsOfExistingPods && !looksAtAll) return undefined
    const domains = new Domains()
    const add = (terms: readonly Term[], pod: PodInfo, node: NodeState, factor: 1 | -1) => {
      for (const term of terms)
        if (term.selects(pod, namespaces)) domains.add(term.topologyKey, node, factor * term.weight)
    }
    for (const node of looksAtAll ? all : [])
      for (const pod of node.pods.values()) {
        add(preferredAffinity, pod, node, 1)
        add(preferredAntiAffinity, pod, node, -1)
        if (work.isStepOver(info.termsWeight)) yield
      }
    if (hardPodAffinityWeight > 0) yield* addRunning(cycle, 'requiredAffinity', domains, () => hardPodAffinityWeight)
    yield* addRunning(cycle, 'preferredAffinity', domains, ({ weight }) => weight)
    yield* addRunning(cycle, 'preferredAntiAffinity', domains, ({ weight }) => -weight)
    if (domains.isEmpty) return undefined
    return between(yield* work.map(nodes, (node) => domains.sum(node), domains.size))
  },
})

/** Checks required affinity. The first pod of a group with affinity to itself finds no other pod, and is accepted. */
function isBesideWanted(node: NodeState, terms: readonly Term[], wanted: Domains, isOwn: () => boolean): boolean {
  if (terms.some(({ topologyKey }) => ownValue(node.labels, topologyKey) === undefined)) return false
  if (terms.every(({ topologyKey }) => wanted.of(topologyKey, node) > 0)) return true
  return wanted.isEmpty && isOwn()
}
