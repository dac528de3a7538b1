/** NodeResourcesFit and NodeResourcesBalancedAllocation: requests of pods against allocatable resources of nodes. */
import { ownValue } from '../../../base/own.ts'
import type { PluginArgs } from '../../../configuration/scheduler/args.ts'
import type { ScoringStrategy, WeighedResource } from '../../../configuration/scheduler/resources-fit.ts'
import { SearchBudget } from '../devices/search.ts'
import type { Cycle, FilterPlugin, ScorePlugin } from '../framework.ts'
import { MOST } from '../framework.ts'
import type { NodeState } from '../node-state.ts'
import type { PodInfo } from '../pod-info.ts'
import { alongShape } from './shape.ts'

/** Comparisons that a score of one node takes. */
const SCORED = 8

export function resourcesFit({
  ignoredResources,
  ignoredResourceGroups,
  scoringStrategy,
}: PluginArgs['NodeResourcesFit']): FilterPlugin & ScorePlugin {
  const [ignored, ignoredGroups] = [new Set(ignoredResources), new Set(ignoredResourceGroups)]
  const isIgnored = (name: string) =>
    isExtended(name) && (ignored.has(name) || ignoredGroups.has(name.slice(0, name.indexOf('/'))))
  const needsOf = (info: PodInfo) => [...info.needs].filter(([name, wanted]) => wanted > 0 && !isIgnored(name))
  return {
    name: 'NodeResourcesFit',
    isHelpedBy({ info }, { before, now }) {
      const needs = [['pods', 1] as const, ...needsOf(info)]
      const has = ({ allocatable }: NodeState, name: string) => allocatable.get(name) ?? 0
      // devices may provide a resource that the node does not list
      const fits = needs.every(([name, wanted]) => wanted <= has(now, name) || !now.allocatable.has(name))
      return fits && (before === undefined || needs.some(([name]) => has(now, name) > has(before, name)))
    },
    isHelpedByPod({ info }, { before, now }) {
      if (now === undefined) return true
      // a pod that is being deleted frees nothing yet
      return [...info.needs.keys()].some((name) => (now.needs.get(name) ?? 0) < (before?.needs.get(name) ?? 0))
    },
    *begin({ info, claims }) {
      const needs = needsOf(info)
      return {
        refuses(node) {
          let reasons: string[] | undefined
          let neverFits = false
          if (node.pods.size + 1 > (node.allocatable.get('pods') ?? 0)) reasons = ['Too many pods']
          for (const [name, wanted] of needs) {
            if (wanted <= node.free(name) || claims?.provides(name, node) === true) continue
            ;(reasons ??= []).push(`Insufficient ${name}`)
            if (wanted > (node.allocatable.get(name) ?? 0)) neverFits = true
          }
          return reasons && { reasons, forGood: neverFits }
        },
      }
    },
    *score(cycle, nodes) {
      const devices = devicesOf(cycle)
      return yield* cycle.work.map(nodes, (node) => scoreBy(scoringStrategy, cycle.info, node, devices), SCORED)
    },
  }
}

/** Extended resources, such as example.com/gpu. */
const isExtended = (name: string): boolean =>
  name.includes('/') && !name.slice(0, name.indexOf('/')).endsWith('kubernetes.io')

/** Scalar resources: names with a domain, and huge pages. The node must have the requested amount of them. */
const isScalar = (name: string): boolean => name.includes('/') || name.startsWith('hugepages-')

const native: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage'])

interface Usage {
  readonly capacity: number
  readonly used: number
}

/** The devices on a node that provide a resource; undefined: none do. */
type DevicesOn = (name: string, node: NodeState) => Usage | undefined

function devicesOf({ devices }: Cycle): DevicesOn {
  const budget = new SearchBudget()
  return (name, node) => devices.countOn(name, node, budget)
}

/** The capacity for a resource, and its use with the pod on the node; undefined: the score ignores the resource. */
function usage(name: string, wanted: number, used: number, node: NodeState, devices: DevicesOn): Usage | undefined {
  if (!native.has(name) && !(isScalar(name) && wanted > 0)) return undefined
  const own = { capacity: node.allocatable.get(name) ?? 0, used }
  const known = own.capacity === 0 && !native.has(name) ? devices(name, node) : own
  return known === undefined || known.capacity === 0 ? undefined : { ...known, used: known.used + wanted }
}

function scoreBy(strategy: ScoringStrategy, info: PodInfo, node: NodeState, devices: DevicesOn): number {
  let [sum, weights] = [0, 0]
  for (const { name, weight } of strategy.resources) {
    const [wanted, used] =
      name === 'cpu' || name === 'memory'
        ? [info.scored[name], node.nonZero[name]]
        : [info.needs.get(name) ?? 0, node.requested.get(name) ?? 0]
    const of = usage(name, wanted, used, node, devices)
    const score = of && ownValue(strategies, strategy.type)?.(of.used, of.capacity, strategy)
    if (score === undefined) continue
    sum += score * weight
    weights += weight
  }
  const mean = weights === 0 ? 0 : sum / weights
  return strategy.type === 'RequestedToCapacityRatio' ? Math.round(mean) : Math.trunc(mean)
}

/** Undefined: the score ignores the resource. */
type Strategy = (used: number, capacity: number, strategy: ScoringStrategy) => number | undefined

const strategies: Readonly<Record<string, Strategy>> = {
  LeastAllocated: (used, capacity) => Math.trunc((Math.max(0, capacity - used) * MOST) / capacity),
  MostAllocated: (used, capacity) => Math.trunc((Math.min(used, capacity) * MOST) / capacity),
  RequestedToCapacityRatio(used, capacity, { requestedToCapacityRatio: { shape } = { shape: [] } }) {
    const score = alongShape(shape, used > capacity ? 100 : Math.trunc((used * 100) / capacity))
    return score > 0 ? score : undefined
  },
}

export const balancedAllocation = (resources: readonly WeighedResource[]): ScorePlugin => ({
  name: 'NodeResourcesBalancedAllocation',
  *score(cycle, nodes) {
    const { info } = cycle
    const devices = devicesOf(cycle)
    const wanted = resources.map(({ name }) => [name, info.needs.get(name) ?? 0] as const)
    if (wanted.every(([, amount]) => amount === 0)) return undefined
    const score = (node: NodeState) => {
      const shares = wanted.flatMap(([name, amount]) => {
        const before = node.requested.get(name) ?? 0
        const of = usage(name, amount, before, node, devices)
        return of === undefined ? [] : [{ before: (of.used - amount) / of.capacity, after: of.used / of.capacity }]
      })
      const gain = balance(shares.map(({ after }) => after)) - balance(shares.map(({ before }) => before))
      return MOST / 2 + Math.trunc((MOST / 2 + gain) / 2)
    }
    return yield* cycle.work.map(nodes, score, SCORED)
  },
})

/** 100: all resources are used to the same share. */
function balance(shares: readonly number[]): number {
  const capped = shares.map((share) => Math.min(share, 1))
  return Math.trunc((1 - deviation(capped)) * MOST)
}

function deviation(values: readonly number[]): number {
  if (values.length < 2) return 0
  if (values.length === 2) return Math.abs((values[0]! - values[1]!) / 2)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}
