/**
 * Which of the nodes that fit is the best: the plug-ins of kube-scheduler's default profile with their weights. Each gives
 * 0 to 100 for a node, after all of them are known.
 */
import { leastOf, mostOf } from '../../api/extremes.ts'
import type { Pod } from '../../api/core/v1.ts'
import { ownValue } from '../../api/own.ts'
import type { Cycle } from './filters.ts'
import { matchesTerm } from './node-selector.ts'
import type { NodeState } from './node-state.ts'
import { selects } from './pod-terms.ts'
import { untolerated } from './taints.ts'
import { countsOf, spreadConstraints } from './topology-spread.ts'

const MOST = 100

interface Score {
  readonly weight: number
  readonly raw: (cycle: Cycle, node: NodeState) => number
  /** How raw numbers become 0 to 100. Default: they are. */
  readonly normalize?: 'largest is best' | 'smallest is best' | 'between'
}

const share = (used: number, all: number): number => (all === 0 ? 1 : Math.min(used / all, 1))

/** What a node has used with the pod on it, of cpu and memory. */
function usage({ needs }: Cycle, { allocatable, weighed }: NodeState): [cpu: number, memory: number] {
  const cpu = weighed.cpu + (needs.get('cpu') || 100)
  const memory = weighed.memory + (needs.get('memory') || 200 * 1024 * 1024)
  return [share(cpu, allocatable.get('cpu') ?? 0), share(memory, allocatable.get('memory') ?? 0)]
}

const leastAllocated: Score = {
  weight: 1,
  raw(cycle, node) {
    const [cpu, memory] = usage(cycle, node)
    return Math.trunc((Math.trunc((1 - cpu) * MOST) + Math.trunc((1 - memory) * MOST)) / 2)
  },
}

const balancedAllocation: Score = {
  weight: 1,
  raw(cycle, node) {
    const [cpu, memory] = usage(cycle, node)
    return Math.trunc((1 - Math.abs(cpu - memory) / 2) * MOST)
  },
}

const taintToleration: Score = {
  weight: 3,
  normalize: 'smallest is best',
  raw: ({ pod }, { node }) => untolerated(node.spec?.taints, pod.spec?.tolerations, ['PreferNoSchedule']).length,
}

const nodeAffinity: Score = {
  weight: 2,
  normalize: 'largest is best',
  raw: ({ pod }, { node }) =>
    (pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).reduce(
      (sum, { weight = 0, preference }) =>
        sum + (preference !== undefined && matchesTerm(preference, node) ? weight : 0),
      0,
    ),
}

const imageLocality: Score = {
  weight: 1,
  raw({ pod, nodes }, { node }) {
    if ((node.status?.images ?? []).length === 0) return 0
    const images = new Set(pod.spec?.containers?.map(({ image = '' }) => image))
    const has = (state: NodeState['node'], image: string) =>
      state.status?.images?.find(({ names = [] }) => names.includes(image))?.sizeBytes ?? 0
    let bytes = 0
    for (const image of images) {
      const size = has(node, image)
      // few: the images of one pod, that are on this node
      if (size > 0) bytes += (size * nodes.filter((other) => has(other.node, image) > 0).length) / nodes.length
    }
    const least = 23 * 1024 * 1024
    const most = 1000 * 1024 * 1024 * images.size
    return Math.trunc((MOST * (Math.min(Math.max(bytes, least), most) - least)) / (most - least))
  },
}

const topologySpread: Score = {
  weight: 2,
  normalize: 'smallest is best',
  raw(cycle, { node }) {
    const constraints = spreadConstraints(cycle.pod, 'ScheduleAnyway')
    return constraints.reduce((sum, constraint) => {
      const { topologyKey = '', maxSkew = 1 } = constraint
      const counts = countsOf(constraint, cycle, [topologyKey])
      const count = counts.get(ownValue(node.metadata.labels, topologyKey) ?? '') ?? 0
      return sum + count * Math.log(counts.size + 2) + maxSkew - 1
    }, 0)
  },
}

const podAffinity: Score = {
  weight: 2,
  normalize: 'between',
  raw: (cycle, { node }) =>
    weighed(cycle, 'podAffinity', node.metadata.labels) - weighed(cycle, 'podAntiAffinity', node.metadata.labels),
}

function weighed(
  { pod, nodes, namespaces }: Cycle,
  kind: 'podAffinity' | 'podAntiAffinity',
  labels: Pod['metadata']['labels'],
): number {
  let sum = 0
  for (const { weight = 0, podAffinityTerm = {} } of pod.spec?.affinity?.[kind]
    ?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    const key = podAffinityTerm.topologyKey ?? ''
    const value = ownValue(labels, key)
    if (value === undefined) continue
    for (const other of nodes)
      if (ownValue(other.node.metadata.labels, key) === value)
        sum += weight * other.pods.filter((there) => selects(podAffinityTerm, pod, there, namespaces)).length
  }
  return sum
}

/** Spreads the pods of one owner where nothing else is said. */
const siblings: Score = {
  weight: 2,
  normalize: 'smallest is best',
  raw({ pod }, { pods }) {
    if ((pod.spec?.topologySpreadConstraints ?? []).length > 0) return 0
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid
    if (owner === undefined) return 0
    return pods.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === owner)).length
  },
}

const scores: readonly Score[] = [
  taintToleration,
  nodeAffinity,
  leastAllocated,
  balancedAllocation,
  topologySpread,
  podAffinity,
  imageLocality,
  siblings,
]

function normalized(raw: readonly number[], how: Score['normalize']): readonly number[] {
  if (how === undefined) return raw
  const [least, most] = [leastOf(raw), mostOf(raw)]
  if (how === 'between')
    return raw.map((value) => (most === least ? 0 : Math.trunc((MOST * (value - least)) / (most - least))))
  if (how === 'largest is best') return raw.map((value) => (most === 0 ? 0 : Math.trunc((MOST * value) / most)))
  return raw.map((value) => (most === 0 ? MOST : Math.trunc(MOST - (MOST * value) / most)))
}

/** The best of them, the first where several are. @param nodes at least one */
export function best(cycle: Cycle, nodes: readonly NodeState[]): NodeState {
  if (nodes.length === 1) return nodes[0]!
  const totals = nodes.map(() => 0)
  for (const { raw, weight, normalize } of scores) {
    const values = normalized(
      nodes.map((node) => raw(cycle, node)),
      normalize,
    )
    values.forEach((value, at) => (totals[at]! += weight * value))
  }
  return nodes[totals.indexOf(mostOf(totals))]!
}
