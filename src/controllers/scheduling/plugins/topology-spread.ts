/** PodTopologySpread: whether a pod on a node would exceed the maximum skew of its group (KEP-895). */
import { leastOf, mostOf } from '../../../base/extremes.ts'
import type { Pod, TopologySpreadConstraint } from '../../../api/core/v1.ts'
import { ownValue } from '../../../base/own.ts'
import type { PluginArgs } from '../../../configuration/scheduler/args.ts'
import type { LabelRequirement } from '../../../storage/selectors/selection.ts'
import { matchesLabels } from '../../../storage/selectors/selection.ts'
import { requirementsOf } from '../../workloads/pods/pod-control.ts'
import type { Steps } from '../../../base/slices.ts'
import { weightOf } from '../cycle-work.ts'
import type { Cycle, FilterPlugin, Filtering, ScorePlugin } from '../framework.ts'
import { forGood, forNow, MOST } from '../framework.ts'
import { isWanted } from '../node-selector.ts'
import type { NodeState } from '../node-state.ts'
import type { PodInfo } from '../pod-info.ts'
import type { Tolerations } from '../taints.ts'

const PROBLEM = "node(s) didn't match pod topology spread constraints"
const HOSTNAME = 'kubernetes.io/hostname'
const ZONE = 'topology.kubernetes.io/zone'
/** Comparisons of numbers for which one of the cycle counts. */
const LOOKED_UP = 32
type Action = 'DoNotSchedule' | 'ScheduleAnyway'
type SpreadArgs = PluginArgs['PodTopologySpread']

const systemDefaults: readonly TopologySpreadConstraint[] = [
  { topologyKey: HOSTNAME, whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 3 },
  { topologyKey: ZONE, whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 5 },
]

class Constraint {
  readonly key: string
  readonly maxSkew: number
  readonly minDomains: number
  /** Undefined: the constraint selects no pods. */
  private readonly selector: readonly LabelRequirement[] | undefined
  private readonly selectorText: string
  private readonly honorsAffinity: boolean
  private readonly honorsTaints: boolean

  constructor(
    from: TopologySpreadConstraint,
    private readonly pod: Pod,
    private readonly tolerations: Tolerations,
    selector?: readonly LabelRequirement[],
  ) {
    this.key = from.topologyKey ?? ''
    this.maxSkew = from.maxSkew ?? 1
    this.minDomains = from.minDomains ?? 1
    this.honorsAffinity = (from.nodeAffinityPolicy ?? 'Honor') === 'Honor'
    this.honorsTaints = from.nodeTaintsPolicy === 'Honor'
    const own = (from.matchLabelKeys ?? []).flatMap((key) => {
      const value = ownValue(pod.metadata.labels, key)
      return value === undefined ? [] : [{ key, operator: 'In', values: [value] } as const]
    })
    this.selector =
      selector ?? (from.labelSelector === undefined ? undefined : [...requirementsOf(from.labelSelector), ...own])
    this.selectorText = JSON.stringify(this.selector ?? [])
  }

  selects(labels: Readonly<Record<string, string>>): boolean {
    return this.selector !== undefined && matchesLabels(this.selector, labels)
  }

  matching(node: NodeState, namespace: string): number {
    // an empty selector matches no pod
    if (this.selector === undefined || this.selector.length === 0) return 0
    return node.countOf(namespace + this.selectorText, () => this.count(node, namespace))
  }

  /** Comparisons of `matching` and `counts`. */
  weightOn({ pods, node }: NodeState): number {
    const taints = this.honorsTaints ? (node.spec?.taints?.length ?? 0) : 0
    return pods.size * weightOf(this.selectorText.length) + taints
  }

  private count({ pods }: NodeState, namespace: string): number {
    let count = 0
    for (const pod of pods.values())
      if (!pod.isTerminating && pod.namespace === namespace && this.selects(pod.labels)) count++
    return count
  }

  /** Whether the pods of the node count for the constraint. */
  counts({ node }: NodeState): boolean {
    const { spec = {} } = this.pod
    if (this.honorsAffinity && !isWanted(spec, node)) return false
    return (
      !this.honorsTaints || this.tolerations.untolerated(node.spec?.taints, ['NoSchedule', 'NoExecute']).length === 0
    )
  }
}

type Asking = Pick<Cycle, 'pod' | 'info'>

const hasKeys = ({ labels }: NodeState, constraints: readonly Constraint[]): boolean =>
  constraints.every(({ key }) => ownValue(labels, key) !== undefined)

const constraintsOf = ({ pod, info }: Asking, action: Action): Constraint[] =>
  (pod.spec?.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action)
    .map((constraint) => new Constraint(constraint, pod, info.tolerations))

/** @param defaults constraints of pods that have none of their own */
function constraintsFor(cycle: Cycle, action: Action, defaults: readonly TopologySpreadConstraint[]): Constraint[] {
  const { pod, info, defaultSelector } = cycle
  if ((pod.spec?.topologySpreadConstraints ?? []).length > 0) return constraintsOf(cycle, action)
  const meant = defaults.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action)
  const selector = meant.length === 0 ? undefined : defaultSelector(pod)
  return selector === undefined || selector.length === 0
    ? []
    : meant.map((constraint) => new Constraint(constraint, pod, info.tolerations, selector))
}

export function podTopologySpread({ defaultConstraints, defaultingType }: SpreadArgs): FilterPlugin & ScorePlugin {
  const isSystem = defaultingType === 'System'
  const defaults = isSystem ? systemDefaults : defaultConstraints
  return {
    name: 'PodTopologySpread',
    isHelpedByPod({ pod, info }, { before, now }) {
      const involved = [before, now].filter((one) => one?.namespace === info.namespace)
      const own = constraintsOf({ pod, info }, 'DoNotSchedule')
      // Services select the pods of default constraints
      if (own.length === 0) return involved.length > 0
      // few: a pod before and after
      return involved.some((one) => one !== undefined && own.some((constraint) => constraint.selects(one.labels)))
    },
    begin: (cycle) => spreadFilter(cycle, constraintsFor(cycle, 'DoNotSchedule', defaults)),
    *score(cycle, nodes) {
      const constraints = constraintsFor(cycle, 'ScheduleAnyway', defaults)
      const needsAll = !isSystem || (cycle.pod.spec?.topologySpreadConstraints ?? []).length > 0
      return yield* spreadScore(cycle, nodes, constraints, needsAll)
    },
  }
}

function* spreadFilter({ info, nodes, work }: Cycle, constraints: readonly Constraint[]): Steps<Filtering | undefined> {
  if (constraints.length === 0) return undefined
  const counts = constraints.map(() => new Map<string, number>())
  /** The least count of each constraint; undefined: not known since a count changed. */
  const least: (number | undefined)[] = []
  const add = (at: number, { labels }: NodeState, count: number) => {
    const value = ownValue(labels, constraints[at]!.key)!
    counts[at]!.set(value, (counts[at]!.get(value) ?? 0) + count)
    least[at] = undefined
  }
  const weight = weightOf(info.rules)
  for (const node of nodes) {
    if (work.isStepOver(weight)) yield
    if (!hasKeys(node, constraints)) continue
    for (const [at, constraint] of constraints.entries()) {
      if (!constraint.counts(node)) continue
      add(at, node, constraint.matching(node, info.namespace))
      if (work.isStepOver(constraint.weightOn(node))) yield
    }
  }
  const missing = forGood(`${PROBLEM} (missing required label)`)
  const lopsided = forNow(PROBLEM)
  return {
    weight:
      weight +
      mostOf(
        counts.map(({ size }) => size),
        0,
      ) /
        LOOKED_UP,
    refuses({ labels }) {
      for (const [at, constraint] of constraints.entries()) {
        const value = ownValue(labels, constraint.key)
        if (value === undefined) return missing
        const counted = counts[at]!
        const fewest = counted.size < constraint.minDomains ? 0 : (least[at] ??= leastOf(counted.values()))
        const own = constraint.selects(info.labels) ? 1 : 0
        // without domains `fewest` is infinite, and no node is refused
        if ((counted.get(value) ?? 0) + own - fewest > constraint.maxSkew) return lopsided
      }
      return undefined
    },
    moved(pod: PodInfo, node: NodeState, by: 1 | -1) {
      if (pod.namespace !== info.namespace || !hasKeys(node, constraints)) return
      for (const [at, constraint] of constraints.entries())
        if (constraint.selects(pod.labels) && constraint.counts(node)) add(at, node, by)
    },
  }
}

/** @param needsAll ignores nodes that lack the label of some constraint */
function* spreadScore(
  cycle: Cycle,
  nodes: readonly NodeState[],
  constraints: readonly Constraint[],
  needsAll: boolean,
): Steps<readonly number[] | undefined> {
  if (constraints.length === 0) return undefined
  const { info, work } = cycle
  const ignored = new Set(needsAll ? nodes.filter((node) => !hasKeys(node, constraints)) : [])
  const counts: Map<string, number>[] = []
  for (const constraint of constraints)
    counts.push(yield* domainCounts(constraint, constraints, cycle, nodes, ignored, needsAll))
  const weights = constraints.map(({ key }, at) =>
    Math.log((key === HOSTNAME ? nodes.length - ignored.size : counts[at]!.size) + 2),
  )
  const score = (node: NodeState): number | undefined => {
    if (ignored.has(node)) return undefined
    let sum = 0
    for (const [at, constraint] of constraints.entries()) {
      const value = ownValue(node.labels, constraint.key)
      if (value === undefined) continue
      const count =
        constraint.key === HOSTNAME ? constraint.matching(node, info.namespace) : (counts[at]!.get(value) ?? 0)
      sum += count * weights[at]! + (constraint.maxSkew - 1)
    }
    return Math.round(sum)
  }
  const weight = weightOf(info.rules)
  const ownDomains = constraints.filter(({ key }) => key === HOSTNAME)
  const raw = yield* work.map(nodes, score, (node) =>
    ownDomains.reduce((sum, constraint) => sum + constraint.weightOn(node), weight),
  )
  const known = raw.filter((value) => value !== undefined)
  const [least, most] = [leastOf(known), mostOf(known, 0)]
  return raw.map((value) =>
    value === undefined ? 0 : most === 0 ? MOST : Math.trunc((MOST * (most + least - value)) / most),
  )
}

/** The number of matching pods in each domain that has a candidate node. */
function* domainCounts(
  constraint: Constraint,
  all: readonly Constraint[],
  { nodes, info, work }: Cycle,
  candidates: readonly NodeState[],
  ignored: ReadonlySet<NodeState>,
  needsAll: boolean,
): Steps<Map<string, number>> {
  const counts = new Map<string, number>()
  // each node is a domain of its own; the score counts its pods
  if (constraint.key === HOSTNAME) return counts
  for (const node of candidates) if (!ignored.has(node)) counts.set(ownValue(node.labels, constraint.key) ?? '', 0)
  const weight = weightOf(info.rules)
  for (const node of nodes) {
    if (work.isStepOver(weight)) yield
    const value = ownValue(node.labels, constraint.key)
    // nodes without the label form a domain that no score counts
    if (value === undefined || (needsAll && !hasKeys(node, all)) || !constraint.counts(node)) continue
    const before = counts.get(value)
    if (before === undefined) continue
    counts.set(value, before + constraint.matching(node, info.namespace))
    if (work.isStepOver(constraint.weightOn(node))) yield
  }
  return counts
}
