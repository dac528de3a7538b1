/** What the plug-ins of a scheduler are (kube-scheduler's framework), and one cycle: the search for a place for one pod. */
import type { Pod } from '../../api/core/v1.ts'
import type { LabelRequirement } from '../../storage/selection.ts'
import type { ClaimPlan } from './devices/claim-plan.ts'
import type { DeviceFacts } from './devices/device-facts.ts'
import type { NodeState } from './node-state.ts'
import type { NamespaceLabels, PodInfo } from './pod-info.ts'
import type { VolumeFacts } from './volume-facts.ts'

/** Why not. Removing pods from the node would not help where it is `forGood`. */
export interface Refusal {
  readonly reasons: readonly string[]
  readonly forGood: boolean
}

export const forGood = (reason: string): Refusal => ({ reasons: [reason], forGood: true })
export const forNow = (...reasons: string[]): Refusal => ({ reasons, forGood: false })

/** All that plug-ins look at beside the pod. */
export interface Cluster {
  readonly nodes: readonly NodeState[]
  readonly namespaces: NamespaceLabels
  readonly volumes: VolumeFacts
  readonly devices: DeviceFacts
  /** What Services, and the owner of the pod, select it by; undefined: nothing does. */
  readonly defaultSelector: (pod: Pod) => readonly LabelRequirement[] | undefined
}

export interface Cycle extends Cluster {
  readonly pod: Pod
  readonly info: PodInfo
  /** Undefined: the pod claims no devices. */
  readonly claims: ClaimPlan | undefined
}

/** A filter of one cycle. */
export interface Filtering {
  /** Undefined: the pod may be there. */
  refuses(node: NodeState): Refusal | undefined
  /** A pod came to a node, or left it, in the course of the cycle. */
  moved?(pod: PodInfo, node: NodeState, by: 1 | -1): void
}

export interface FilterPlugin {
  readonly name: string
  /** Undefined: it has nothing against the pod anywhere. A Refusal: it is against all nodes. */
  begin(cycle: Cycle): Filtering | Refusal | undefined
}

export interface ScorePlugin {
  readonly name: string
  readonly weight: number
  /** @returns 0 to 100 for each of the nodes; undefined: they are all alike */
  score(cycle: Cycle, nodes: readonly NodeState[]): readonly number[] | undefined
}

export interface Profile {
  readonly schedulerName: string
  readonly filters: readonly FilterPlugin[]
  readonly scores: readonly ScorePlugin[]
}

export const MOST = 100

export const isRefusal = (begun: Filtering | Refusal): begun is Refusal => 'reasons' in begun
