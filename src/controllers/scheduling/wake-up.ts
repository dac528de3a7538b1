/**
 * Changes after which the scheduler tries an unschedulable pod again (kube-scheduler's queueing hints), for each
 * plug-in that refused it.
 */
import { ownValue } from '../../base/own.ts'
import { weightOf } from './cycle-work.ts'
import type { Hints, NodeChange, PodChange, PodHint } from './framework.ts'
import type { NodeState } from './node-state.ts'

export type NodeEvent =
  'NodeAdded' | 'NodeLabelsChanged' | 'NodeTaintsChanged' | 'NodeAllocatableChanged' | 'NodeFeaturesChanged'

export type ClusterEvent =
  | NodeEvent
  | 'NodeGone'
  | 'PodAssigned'
  /** The pod has other labels, requests less, or is being deleted. */
  | 'AssignedPodChanged'
  | 'AssignedPodGone'
  /** A namespace has other labels. */
  | 'NamespaceChanged'
  | 'VolumeChanged'
  | 'DeviceChanged'

/** The events since the last run. */
export interface Happened {
  readonly events: ReadonlySet<ClusterEvent>
  /** The nodes that were added or changed. */
  readonly nodes: readonly NodeChange[]
  /** Undefined: too many pods changed to remember each. */
  readonly pods: readonly PodChange[] | undefined
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The changes of a node that could help a pod. A heartbeat is none. */
export function changesOf({ before, now }: NodeChange): readonly NodeEvent[] {
  if (before === undefined) return ['NodeAdded']
  const of = (field: (node: NodeState['node']) => unknown, event: NodeEvent): readonly NodeEvent[] =>
    same(field(before.node), field(now.node)) ? [] : [event]
  return [
    ...of(({ metadata }) => metadata.labels, 'NodeLabelsChanged'),
    ...of(({ spec }) => [spec?.taints, spec?.unschedulable], 'NodeTaintsChanged'),
    ...of(({ status }) => status?.allocatable, 'NodeAllocatableChanged'),
    ...of(({ status }) => status?.declaredFeatures, 'NodeFeaturesChanged'),
  ]
}

/**
 * After a change of taints kube-scheduler tries pods again that any plug-in refused. Only plug-ins that check taints
 * judge the change first.
 */
const NODES = ['NodeAdded', 'NodeTaintsChanged'] as const
const LABELS = [...NODES, 'NodeLabelsChanged'] as const
const PODS = ['PodAssigned', 'AssignedPodChanged', 'AssignedPodGone'] as const

const hintsOf: Readonly<Record<string, readonly ClusterEvent[]>> = {
  NodeUnschedulable: NODES,
  TaintToleration: NODES,
  NodeAffinity: LABELS,
  NodePorts: [...NODES, 'AssignedPodGone'],
  NodeDeclaredFeatures: [...NODES, 'NodeFeaturesChanged'],
  NodeResourcesFit: [...NODES, 'NodeAllocatableChanged', 'AssignedPodGone', 'AssignedPodChanged', 'DeviceChanged'],
  PodTopologySpread: [...LABELS, ...PODS, 'NodeGone'],
  InterPodAffinity: [...LABELS, ...PODS, 'NamespaceChanged'],
  VolumeRestrictions: [...NODES, 'AssignedPodGone', 'VolumeChanged'],
  NodeVolumeLimits: [...NODES, 'NodeAllocatableChanged', 'AssignedPodGone', 'VolumeChanged'],
  VolumeBinding: [...LABELS, 'VolumeChanged'],
  VolumeZone: [...LABELS, 'VolumeChanged'],
  DynamicResources: [...LABELS, 'NodeAllocatableChanged', 'DeviceChanged'],
}

/** Events for which a plug-in judges each node (`isHelpedBy`). */
const judged: Readonly<Record<string, ReadonlySet<ClusterEvent>>> = {
  NodeUnschedulable: new Set(['NodeAdded', 'NodeTaintsChanged']),
  TaintToleration: new Set(['NodeAdded', 'NodeTaintsChanged']),
  NodeAffinity: new Set(['NodeAdded', 'NodeLabelsChanged']),
  NodeResourcesFit: new Set(['NodeAdded', 'NodeAllocatableChanged']),
}

type Refused = Parameters<PodHint>[0]

const podEvents: ReadonlySet<ClusterEvent> = new Set(PODS)

/** Comparisons for one pod and all changes. With more, each event may help: a millisecond. */
const MOST_COMPARED = 5_000

/** Whether a plug-in judges some change to help. `undefined`: it does not judge such changes, or there are too many. */
function judges<Change>(
  hint: ((refused: Refused, change: Change) => boolean) | undefined,
  refused: Refused,
  changes: readonly Change[] | undefined,
  weight: number,
): boolean | undefined {
  if (hint === undefined || changes === undefined || changes.length * weight > MOST_COMPARED) return undefined
  return changes.some((change) => hint(refused, change))
}

/** Comparisons of a refused pod's rules with one change. */
const weightOfRules = ({ info: { rules } }: Refused): number => weightOf(rules)

/**
 * Whether events may help a refused pod. Any event may help if the plug-in is not in `hintsOf`.
 * @param hints of plug-ins that judge the changed nodes themselves
 */
export function isHelped(
  refused: Refused,
  refusedBy: ReadonlySet<string>,
  { events, nodes, pods }: Happened,
  hints: ReadonlyMap<string, Hints> = new Map(),
): boolean {
  if (events.size === 0) return false
  if (refusedBy.size === 0) return true
  // few: the plug-ins of a profile, and the changes that help each
  return [...refusedBy].some((plugin) => {
    const happened = (ownValue(hintsOf, plugin) ?? [...events]).filter((event) => events.has(event))
    if (happened.length === 0) return false
    const { isHelpedBy, isHelpedByPod } = hints.get(plugin) ?? {}
    const ofNodes = ownValue(judged, plugin)
    const weight = weightOfRules(refused)
    return happened.some((event) => {
      if (podEvents.has(event)) return judges(isHelpedByPod, refused, pods, weight) ?? true
      return ofNodes?.has(event) === true ? (judges(isHelpedBy, refused, nodes, weight) ?? true) : true
    })
  })
}
