/** Chooses a node for a pod, or says why there is none. */
import { mostOf } from '../../api/extremes.ts'
import type { Cycle, Filtering, Profile, Refusal } from './framework.ts'
import { isRefusal } from './framework.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'
import { dynamicResources } from './plugins/dynamic-resources.ts'

/** Why there is no node: the refusal of each, and by which plug-ins; or one that is against all of them. */
export interface Unfit {
  readonly refusals: ReadonlyMap<NodeState, Refusal>
  readonly plugins: ReadonlySet<string>
  /** Said of all nodes at once. */
  readonly ofAll?: string
}

export type Choice = { readonly node: NodeState } | Unfit

/** The filters of one cycle that have something to say, and what each of them said so far. */
export class Filters {
  private constructor(
    readonly cycle: Cycle,
    private readonly begun: readonly (readonly [name: string, filtering: Filtering])[],
    /** A filter that is against all nodes. */
    readonly against: (Refusal & { readonly plugin: string }) | undefined,
    readonly refusedBy: Set<string> = new Set(),
  ) {}

  static begin(profile: Profile, cycle: Cycle): Filters {
    const begun: (readonly [string, Filtering])[] = []
    for (const plugin of profile.filters) {
      const filtering = plugin.begin(cycle)
      if (filtering === undefined) continue
      if (isRefusal(filtering)) return new Filters(cycle, [], { ...filtering, plugin: plugin.name })
      begun.push([plugin.name, filtering])
    }
    return new Filters(cycle, begun, undefined)
  }

  /** With those who have as good a claim to a place there, and without them, for they may go elsewhere. */
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

  /** Moves a pod for the sake of a question: who asks puts it back. */
  add(pod: PodInfo, node: NodeState): void {
    node.add(pod)
    for (const [, filtering] of this.begun) filtering.moved?.(pod, node, 1)
  }

  remove(pod: PodInfo, node: NodeState): void {
    node.remove(pod)
    for (const [, filtering] of this.begun) filtering.moved?.(pod, node, -1)
  }
}

export function choose(profile: Profile, filters: Filters): Choice {
  const { cycle, against, refusedBy: plugins } = filters
  if (against !== undefined) {
    const refusals = new Map(cycle.nodes.map((node) => [node, against]))
    return { refusals, plugins: new Set([against.plugin]), ofAll: against.reasons.join(', ') }
  }
  const nominated = cycle.nodes.find(({ name }) => name === cycle.info.nominatedNode)
  if (nominated !== undefined && filters.refusalOf(nominated) === undefined) return { node: nominated }
  const refusals = new Map<NodeState, Refusal>()
  const fit: NodeState[] = []
  for (const node of cycle.nodes) {
    const refusal = filters.refusalOf(node)
    if (refusal === undefined) fit.push(node)
    else refusals.set(node, refusal)
  }
  return fit.length > 0 ? { node: bestOf(profile, cycle, fit)[0]! } : { refusals, plugins: new Set(plugins) }
}

/** The best of them, all that are equally good. @param nodes at least one */
export function bestOf(profile: Profile, cycle: Cycle, nodes: readonly NodeState[]): readonly NodeState[] {
  if (nodes.length === 1) return nodes
  const totals = nodes.map(() => 0)
  for (const plugin of profile.scores)
    plugin.score(cycle, nodes)?.forEach((value, at) => (totals[at]! += plugin.weight * value))
  const most = mostOf(totals)
  return nodes.filter((_, at) => totals[at] === most)
}

/** What the plug-in of devices (DynamicResources) says after a pod fits nowhere, before preemption speaks. */
const NO_CLAIMS = 'no new claims to deallocate'
export const CLAIM_RELEASED = 'deallocation of ResourceClaim completed'
export const NO_CLAIM_TO_RELEASE = 'still not schedulable'
/** The same where it was never asked about the pod: another plugin refused all nodes at once. Nothing is preempted then. */
const NEVER_ASKED = 'not found'

/** The plug-in of devices comes last, and so has its say after its own refusal. */
export const isOfDevices = ({ plugins }: Unfit): boolean => plugins.has(dynamicResources.name)

/**
 * As kube-scheduler says it.
 * @param preemption what came of the search for victims; '': some were found
 * @param claims what was done about claims of devices
 */
export function failureMessage(unfit: Unfit, preemption: string, claims = NO_CLAIMS): string {
  const { refusals, ofAll } = unfit
  const all = refusals.size
  if (all === 0) return 'no nodes available to schedule pods'
  const said = ofAll ?? counted([...refusals.values()].flatMap(({ reasons }) => reasons))
  const wasAsked = ofAll === undefined || isOfDevices(unfit)
  const after = !wasAsked ? NEVER_ASKED : preemption === '' ? '' : `${claims}, ${preemption}`
  return [`0/${all} nodes are available: ${said}.`, after].filter((part) => part !== '').join(' ')
}

/** `1 this, 2 that` */
export function counted(reasons: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ')
}
