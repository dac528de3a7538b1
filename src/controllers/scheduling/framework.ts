/**
 * The interfaces of scheduler plug-ins (kube-scheduler's framework), and of one cycle: the search for a node for one
 * pod.
 */
import type { Pod } from '../../api/core/v1.ts'
import type { Steps } from '../../base/slices.ts'
import type { LabelRequirement } from '../../storage/selectors/selection.ts'
import type { CycleWork } from './cycle-work.ts'
import type { ClaimPlan } from './devices/claim-plan.ts'
import type { DeviceFacts } from './devices/device-facts.ts'
import type { NodeState } from './node-state.ts'
import type { NamespaceLabels, PodInfo } from './pod-info.ts'
import type { RunningTerms } from './running-terms.ts'
import type { VolumeFacts } from './volume-facts.ts'
import type { CsiVolume } from './csi-volume.ts'

/** Why a node does not fit. With `forGood`, removing pods from the node would not help. */
export interface Refusal {
  readonly reasons: readonly string[]
  readonly forGood: boolean
}

export const forGood = (reason: string): Refusal => ({ reasons: [reason], forGood: true })
export const forNow = (...reasons: string[]): Refusal => ({ reasons, forGood: false })

/** A plug-in cannot do its work for the pod. The pod waits, and its condition says why: a SchedulerError. */
export class CycleFailed extends Error {}

/** Everything that plug-ins read besides the pod. */
export interface Cluster {
  readonly nodes: readonly NodeState[]
  /** One of the nodes in `nodes`. */
  node(name: string): NodeState | undefined
  /** The affinity terms of the pods on `nodes`. */
  readonly terms: RunningTerms
  readonly namespaces: NamespaceLabels
  readonly volumes: VolumeFacts
  /** The volumes that are being made for a pod on its nominated node, by the names of its claims. */
  readonly unmade: (pod: PodInfo) => ReadonlyMap<string, CsiVolume> | undefined
  readonly devices: DeviceFacts
  /** The labels by which Services and the owner of the pod select it; undefined: none of them selects it. */
  readonly defaultSelector: (pod: Pod) => readonly LabelRequirement[] | undefined
}

export interface Cycle extends Cluster {
  readonly pod: Pod
  readonly info: PodInfo
  /** Undefined: the pod claims no devices. */
  readonly claims: ClaimPlan | undefined
  readonly work: CycleWork
}

/** A filter plug-in in one cycle. */
export interface Filtering {
  /** The names of the only nodes to check; undefined: all. */
  readonly only?: ReadonlySet<string> | undefined
  /** Comparisons that `refuses` takes at most; 1 by default. */
  readonly weight?: number
  /** Undefined: the plug-in accepts the node. */
  refuses(node: NodeState): Refusal | undefined
  /** The cycle added a pod to a node, or removed one from it. */
  moved?(pod: PodInfo, node: NodeState, by: 1 | -1): void
}

/** A node before and after a change; `before` is undefined for a new node. */
export interface NodeChange {
  readonly before: NodeState | undefined
  readonly now: NodeState
}

/** A pod on a node that came, went or changed. `before` is undefined for one that came, `now` for one that went. */
export interface PodChange {
  readonly before: PodInfo | undefined
  readonly now: PodInfo | undefined
}

/** Whether a change of a pod on a node may help a pod that a filter refused. */
export type PodHint = (refused: Pick<Cycle, 'pod' | 'info'>, change: PodChange) => boolean

/** The queueing hints of one filter. Absent: each event that wake-up.ts lists for the filter may help. */
export interface Hints {
  readonly isHelpedBy?: NodeHint
  readonly isHelpedByPod?: PodHint
}

/** Whether a change of a node may help a pod that a filter refused (kube-scheduler's queueing hints). */
export type NodeHint = (refused: Pick<Cycle, 'pod' | 'info'>, change: NodeChange) => boolean

export interface FilterPlugin extends Hints {
  readonly name: string
  /** Undefined: the plug-in skips the pod. A Refusal: it refuses all nodes. */
  begin(cycle: Cycle): Steps<Filtering | Refusal | undefined>
}

export interface ScorePlugin {
  readonly name: string
  /** @returns 0 to 100 for each of the nodes; undefined: all nodes score the same */
  score(cycle: Cycle, nodes: readonly NodeState[]): Steps<readonly number[] | undefined>
}

/** A plug-in that runs for a pod that fits no node. */
export type PostFilter = 'DynamicResources' | 'DefaultPreemption'

export interface Profile {
  readonly schedulerName: string
  /** Filters, in the order in which they begin a cycle. */
  readonly preFilters: readonly FilterPlugin[]
  /** Queueing hints, by the name of the filter. */
  readonly hints: ReadonlyMap<string, Hints>
  /** Names of the filters, in the order in which they run for each node. */
  readonly filters: readonly string[]
  readonly scores: readonly { readonly plugin: ScorePlugin; readonly weight: number }[]
  readonly postFilters: readonly PostFilter[]
  /** How many of the nodes where victims are possible preemption compares: the larger of a share and a number. */
  readonly candidates: { readonly percentage: number; readonly absolute: number }
  /** The search stops when this percentage of the nodes fits (percentageOfNodesToScore); 0: it checks all nodes. */
  readonly percentageOfNodes: number
  /** Whether the profile binds the volumes of its pods. */
  readonly bindsVolumes: boolean
  /** Whether the profile allocates the devices that its pods claim. */
  readonly allocatesDevices: boolean
}

export const MOST = 100

export const isRefusal = (begun: Filtering | Refusal): begun is Refusal => 'reasons' in begun
