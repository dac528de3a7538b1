/** Chooses a node for a pod, or says why there is none. */
import { mostOf } from '../../base/extremes.ts'
import type { Steps } from '../../base/slices.ts'
import { weightOf } from './cycle-work.ts'
import type { Cycle, Filtering, Profile, Refusal } from './framework.ts'
import { forGood, isRefusal } from './framework.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'

/** Why no node fits: the refusal of each node and the plug-ins that refused, or one refusal of all nodes. */
export interface Unfit {
  readonly refusals: ReadonlyMap<NodeState, Refusal>
  readonly plugins: ReadonlySet<string>
  /** The text of a refusal of all nodes at once. */
  readonly ofAll?: string
}

export type Choice = { readonly node: NodeState } | Unfit

/**
 * The most that a cycle compares: characters of the pod's rules of affinity and spreading, times the pods and nodes.
 * Twenty rules in a cluster of 5,000 pods are half of it.
 */
const MOST_COMPARED = 50_000_000

/** No event is left out that may help: each try costs little. */
const TOO_MUCH = {
  ...forGood('pod has too many rules of affinity and spreading to compare with all pods and nodes'),
  plugin: 'Comparisons',
}

function comparesTooMuch({ info: { rules }, nodes }: Cycle): boolean {
  if (rules === 0) return false
  return rules * nodes.reduce((sum, { pods }) => sum + 1 + pods.size, 0) > MOST_COMPARED
}

/** The filters that take part in one cycle, and the plug-ins that have refused nodes so far. */
export class Filters {
  private constructor(
    readonly profile: Profile,
    readonly cycle: Cycle,
    private readonly begun: readonly (readonly [name: string, filtering: Filtering])[],
    /** For each plug-in that names nodes, the names of the nodes that it accepts. */
    private readonly only: readonly (readonly [name: string, nodes: ReadonlySet<string>])[],
    /** The refusal of a filter that refuses all nodes. */
    readonly against: (Refusal & { readonly plugin: string }) | undefined,
    /** Whether the DynamicResources plug-in began before a filter refused all nodes. */
    readonly hasAskedDevices: boolean,
    /** Comparisons of all filters for one node. */
    private readonly weight = 1,
    readonly refusedBy: Set<string> = new Set(only.map(([name]) => name)),
  ) {}

  static *begin(profile: Profile, cycle: Cycle): Steps<Filters> {
    if (comparesTooMuch(cycle)) return new Filters(profile, cycle, [], [], TOO_MUCH, false)
    const begun = new Map<string, Filtering>()
    let hasAskedDevices = false
    for (const plugin of profile.preFilters) {
      const filtering = yield* plugin.begin(cycle)
      hasAskedDevices ||= plugin.name === 'DynamicResources'
      if (filtering === undefined) continue
      if (isRefusal(filtering))
        return new Filters(profile, cycle, [], [], { ...filtering, plugin: plugin.name }, hasAskedDevices)
      begun.set(plugin.name, filtering)
    }
    const asked = profile.filters.flatMap((name) => {
      const filtering = begun.get(name)
      return filtering === undefined ? [] : [[name, filtering] as const]
    })
    const only = [...begun].flatMap(([name, { only: nodes }]) => (nodes === undefined ? [] : [[name, nodes] as const]))
    const weight = asked.reduce((sum, [, filtering]) => sum + (filtering.weight ?? 1), 1)
    return new Filters(profile, cycle, asked, only, undefined, hasAskedDevices, weight)
  }

  /** The nodes to check. If plug-ins name nodes: those that all of them name, sorted by name. */
  get places(): readonly NodeState[] {
    const [first, ...others] = this.only
    if (first === undefined) return this.cycle.nodes
    return (
      [...first[1]]
        // few: the plug-ins that name nodes
        .filter((name) => others.every(([, names]) => names.has(name)))
        .sort()
        .flatMap((name) => this.cycle.node(name) ?? [])
    )
  }

  /** The refusal of the nodes that are not checked. */
  get leavesOut(): Refusal {
    return forGood(`node(s) didn't satisfy plugin(s) [${this.only.map(([plugin]) => plugin).join(' ')}]`)
  }

  /** Comparisons of `refusalOf` for a node. */
  weightOn({ nominated }: NodeState): number {
    if (nominated.size === 0) return this.weight
    let moves = 0
    for (const pod of nominated.values()) moves += 2 * this.weightOfMoving(pod)
    return 2 * this.weight + moves
  }

  /** Comparisons of `add` or `remove`. */
  weightOfMoving(pod: PodInfo): number {
    return weightOf(this.cycle.info.rules) + pod.termsWeight + pod.claims.length
  }

  /** Runs the filters with the pods nominated to the node, and without them because they may go elsewhere. */
  refusalOf(node: NodeState): Refusal | undefined {
    const { info } = this.cycle
    const before = [...node.nominated.values()].filter(
      ({ uid, priority }) => uid !== info.uid && priority >= info.priority && !node.pods.has(uid),
    )
    if (before.length > 0) {
      for (const pod of before) this.add(pod, node)
      const refusal = this.first(node)
      for (const pod of before) this.remove(pod, node)
      if (refusal !== undefined) return refusal
    }
    return this.first(node)
  }

  private first(node: NodeState): Refusal | undefined {
    for (const [name, filtering] of this.begun) {
      const refusal = filtering.refuses(node)
      if (refusal === undefined) continue
      this.refusedBy.add(name)
      return refusal
    }
    return undefined
  }

  /** Adds a pod to a node for a trial. The caller removes it again. */
  add(pod: PodInfo, node: NodeState): void {
    node.add(pod)
    for (const [, filtering] of this.begun) filtering.moved?.(pod, node, 1)
  }

  remove(pod: PodInfo, node: NodeState): void {
    node.remove(pod)
    for (const [, filtering] of this.begun) filtering.moved?.(pod, node, -1)
  }
}

/** Where a search begins that does not check all nodes: where the last one ended. */
export interface Search {
  from: number
}

/**
 * With fewer nodes the search checks all of them. With more it stops at a share of them, but not before this many
 * feasible nodes.
 */
const FEW_NODES = 100

export function* choose(filters: Filters, search: Search = { from: 0 }): Steps<Choice> {
  const { cycle, profile, against, refusedBy: plugins } = filters
  const { work } = cycle
  if (against !== undefined) {
    const refusals = new Map(cycle.nodes.map((node) => [node, against]))
    return { refusals, plugins: new Set([against.plugin]), ofAll: against.reasons.join(', ') }
  }
  const nominated = cycle.node(cycle.info.nominatedNode)
  if (nominated !== undefined && filters.refusalOf(nominated) === undefined) return { node: nominated }
  const { places } = filters
  const refusals = new Map<NodeState, Refusal>()
  const fit: NodeState[] = []
  const enough = placesToFind(profile, places.length)
  let looked = 0
  for (const node of inTurn(places, enough === Infinity ? 0 : search.from)) {
    const refusal = filters.refusalOf(node)
    looked++
    if (refusal !== undefined) refusals.set(node, refusal)
    else if (fit.push(node) >= enough) break
    if (work.isStepOver(filters.weightOn(node))) yield
  }
  search.from = (search.from + looked) % Math.max(1, cycle.nodes.length)
  if (fit.length > 0) return { node: (yield* bestOf(profile, cycle, fit))[0]! }
  if (places !== cycle.nodes) {
    const { leavesOut } = filters
    for (const node of cycle.nodes) if (!refusals.has(node)) refusals.set(node, leavesOut)
  }
  return { refusals, plugins: new Set(plugins) }
}

/** The number of feasible nodes at which the search stops (percentageOfNodesToScore). */
function placesToFind({ percentageOfNodes }: Profile, nodes: number): number {
  if (percentageOfNodes === 0 || percentageOfNodes === 100 || nodes < FEW_NODES) return Infinity
  return Math.max(FEW_NODES, Math.trunc((nodes * percentageOfNodes) / 100))
}

function* inTurn<T>(all: readonly T[], from: number): Iterable<T> {
  for (let at = 0; at < all.length; at++) yield all[(from + at) % all.length]!
}

/**
 * The nodes with the highest score.
 * @param nodes at least one
 */
export function* bestOf(profile: Profile, cycle: Cycle, nodes: readonly NodeState[]): Steps<readonly NodeState[]> {
  if (nodes.length === 1) return nodes
  const totals = nodes.map(() => 0)
  for (const { plugin, weight } of profile.scores) {
    const scores = yield* plugin.score(cycle, nodes)
    scores?.forEach((value, at) => (totals[at]! += weight * value))
  }
  const most = mostOf(totals)
  return nodes.filter((_, at) => totals[at] === most)
}

/**
 * The message, in kube-scheduler's words.
 * @param after the message of PostFilter plug-ins, such as preemption
 */
export function failureMessage({ refusals, ofAll }: Unfit, after: string): string {
  const all = refusals.size
  if (all === 0) return 'no nodes available to schedule pods'
  const said = ofAll ?? counted([...refusals.values()].flatMap(({ reasons }) => reasons))
  return [`0/${all} nodes are available: ${said}.`, after].filter((part) => part !== '').join(' ')
}

/** Reasons with their counts: `1 this, 2 that`. */
export function counted(reasons: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ')
}
