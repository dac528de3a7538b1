/**
 * Chooses the victims of a pod with a higher priority: DefaultPreemption. It chooses as few as possible and the lowest
 * priorities of a node, and respects disruption budgets if it can. It writes nothing.
 */
import { append } from '../../base/append.ts'
import type { Steps } from '../../base/slices.ts'
import { charactersOf } from '../../base/bounded-map.ts'
import { leastOf } from '../../base/extremes.ts'
import type { Pod } from '../../api/core/v1.ts'
import type { PodDisruptionBudget } from '../../api/policy/v1.ts'
import { ownValue } from '../../base/own.ts'
import type { LabelRequirement } from '../../storage/selectors/selection.ts'
import { matchesLabels } from '../../storage/selectors/selection.ts'
import { requirementsOf } from '../workloads/pods/pod-control.ts'
import type { CycleWork } from './cycle-work.ts'
import { weightOf } from './cycle-work.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'
import type { Filters, Unfit } from './schedule.ts'
import { counted } from './schedule.ts'

export interface Preemption {
  readonly node: NodeState
  /** The most important one first. */
  readonly victims: readonly PodInfo[]
  /** The number of victims whose budgets allow no disruption. */
  readonly violations: number
}

/**
 * @property message why preemption does not help
 * @property keepsPlace the pod keeps its nominated node
 */
export type Preempted = Preemption | { readonly message: string; readonly keepsPlace: boolean }

export function* preempt(
  filters: Filters,
  { refusals }: Unfit,
  pod: Pod,
  budgets: readonly PodDisruptionBudget[],
): Steps<Preempted> {
  const { info, nodes, work } = filters.cycle
  const refused = ineligible(pod, info, refusals)
  if (refused !== undefined) return { message: `preemption: ${refused}`, keepsPlace: true }
  const possible = [...refusals].flatMap(([node, { forGood }]) => (forGood ? [] : [node]))
  const known = new Budgets(yield* work.map(budgets, (budget) => new Budget(budget), PARSED))
  const { percentage, absolute } = filters.profile.candidates
  const limit = Math.max(absolute, Math.trunc((possible.length * percentage) / 100))
  const reasons: string[] = []
  const candidates: Preemption[] = []
  let isSomeClean = false
  for (const node of possible) {
    const found = yield* victimsOn(filters, node, known)
    if ('reasons' in found) append(reasons, found.reasons)
    else {
      candidates.push(found)
      isSomeClean ||= found.violations === 0
    }
    if (isSomeClean && candidates.length >= limit) break
  }
  if (candidates.length > 0) return cheapest(candidates)
  for (let helpless = nodes.length - possible.length; helpless > 0; helpless--)
    reasons.push('Preemption is not helpful for scheduling')
  const message = `preemption: 0/${nodes.length} nodes are available: ${counted(reasons)}.`
  return { message, keepsPlace: false }
}

/** Why the pod may not preempt others. */
function ineligible(pod: Pod, info: PodInfo, refusals: Unfit['refusals']): string | undefined {
  if (pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  if (info.nominatedNode === '') return undefined
  for (const [node, { forGood }] of refusals) {
    if (node.name !== info.nominatedNode || forGood) continue
    for (const { priority, isPreempted } of node.pods.values())
      if (isPreempted && priority < info.priority) return 'not eligible due to a terminating pod on the nominated node.'
  }
  return undefined
}

/** Comparisons that it takes to parse a budget. */
const PARSED = 20

const NO_VICTIMS = { reasons: ['No preemption victims found for incoming pod'] } as const

/**
 * Removes all pods of lower priority for a trial, and puts back as many as fit: first those with spent budgets, then
 * the most important ones.
 */
function* victimsOn(
  filters: Filters,
  node: NodeState,
  budgets: Budgets,
): Steps<Preemption | { readonly reasons: readonly string[] }> {
  const { info, work } = filters.cycle
  // a look at all pods of the node
  if (work.isStepOver(node.pods.size)) yield
  const possible = [...node.pods.values()].filter(({ priority }) => priority < info.priority)
  if (possible.length === 0) return NO_VICTIMS
  const away = new Set(possible)
  try {
    for (const pod of possible) {
      filters.remove(pod, node)
      if (work.isStepOver(filters.weightOfMoving(pod))) yield
    }
    const refusal = filters.refusalOf(node)
    if (refusal !== undefined) return refusal
    possible.sort(moreImportant)
    const violating = yield* violatingOf(possible, budgets, work)
    const victims: PodInfo[] = []
    let violations = 0
    for (const pod of [...violating, ...possible.filter((one) => !violating.has(one))]) {
      if (work.isStepOver(2 * filters.weightOfMoving(pod) + filters.weightOn(node))) yield
      filters.add(pod, node)
      if (filters.refusalOf(node) === undefined) {
        away.delete(pod)
        continue
      }
      filters.remove(pod, node)
      victims.push(pod)
      if (violating.has(pod)) violations++
    }
    if (victims.length === 0) return { reasons: [`expected at least one victim pod on node "${node.name}"`] }
    return { node, victims: victims.sort(moreImportant), violations }
  } finally {
    for (const pod of away) filters.add(pod, node)
  }
}

const moreImportant = (a: PodInfo, b: PodInfo): number =>
  b.priority - a.priority || (a.startTime === b.startTime ? 0 : a.startTime - b.startTime)

/** A PodDisruptionBudget, parsed once for one preemption. */
class Budget {
  readonly namespace: string
  private readonly selector: readonly LabelRequirement[]
  private readonly disrupted: PodDisruptionBudget['status'] & object
  readonly allowed: number
  /** Comparisons with one pod. */
  readonly weight: number

  constructor({ metadata, spec, status = {} }: PodDisruptionBudget) {
    this.namespace = metadata.namespace ?? ''
    this.selector = requirementsOf(spec?.selector)
    this.disrupted = status
    this.allowed = status.disruptionsAllowed ?? 0
    this.weight = weightOf(charactersOf(spec?.selector))
  }

  /** Whether the pod counts against this budget. The budget already counts pods that are being disrupted. */
  holds({ namespace, name, labels }: PodInfo): boolean {
    if (namespace !== this.namespace || this.selector.length === 0 || !matchesLabels(this.selector, labels))
      return false
    return ownValue(this.disrupted.disruptedPods, name) === undefined
  }
}

/** The budgets by namespace. */
class Budgets {
  private readonly byNamespace: ReadonlyMap<string, readonly Budget[]>

  constructor(all: readonly Budget[]) {
    this.byNamespace = Map.groupBy(all, ({ namespace }) => namespace)
  }

  in(namespace: string): readonly Budget[] {
    return this.byNamespace.get(namespace) ?? []
  }
}

/** Pods for which a budget is spent once the more important pods are gone. */
function* violatingOf(pods: readonly PodInfo[], budgets: Budgets, work: CycleWork): Steps<ReadonlySet<PodInfo>> {
  const violating = new Set<PodInfo>()
  const left = new Map<Budget, number>()
  for (const pod of pods) {
    if (Object.keys(pod.labels).length === 0) continue
    for (const budget of budgets.in(pod.namespace)) {
      if (work.isStepOver(budget.weight)) yield
      if (!budget.holds(pod)) continue
      const allowed = (left.get(budget) ?? budget.allowed) - 1
      left.set(budget, allowed)
      if (allowed < 0) violating.add(pod)
    }
  }
  return violating
}

/** Added to each priority, so that many victims cost more than few, even if priorities are negative. */
const BEYOND_NEGATIVE = 2 ** 31

/** Costs by kube-scheduler's criteria, in its order: the smaller, the better. */
const costs: readonly ((candidate: Preemption) => number)[] = [
  ({ violations }) => violations,
  ({ victims }) => victims[0]?.priority ?? -BEYOND_NEGATIVE,
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + BEYOND_NEGATIVE, 0),
  ({ victims }) => victims.length,
  // compares the victims of the highest priority: the node where they started latest is best
  ({ victims }) =>
    -leastOf(victims.filter(({ priority }) => priority === victims[0]!.priority).map((pod) => pod.startTime)),
]

function cheapest(candidates: readonly Preemption[]): Preemption {
  let left = candidates
  for (const cost of costs) {
    if (left.length === 1) break
    const values = left.map(cost)
    const least = leastOf(values)
    left = left.filter((_, at) => values[at] === least)
  }
  return left[0]!
}
