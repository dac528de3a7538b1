/**
 * The interfaces of a scheduler's plug-ins (kube-scheduler's framework), and of one cycle: the search for a node for
 * one pod.
 */
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
  /** The names of the only nodes to look at; undefined: all. */
  readonly only?: ReadonlySet<string> | undefined
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
  /** @returns 0 to 100 for each of the nodes; undefined: they are all alike */
  score(cycle: Cycle, nodes: readonly NodeState[]): readonly number[] | undefined
}

/** Steps for a pod that fits nowhere. */
export type PostFilter = 'DynamicResources' | 'DefaultPreemption'

export interface Profile {
  readonly schedulerName: string
  /** They begin in this order. */
  readonly preFilters: readonly FilterPlugin[]
  /** Names of the filters that run for each node, in this order. */
  readonly filters: readonly string[]
  readonly scores: readonly { readonly plugin: ScorePlugin; readonly weight: number }[]
  readonly postFilters: readonly PostFilter[]
  /** Of the nodes that pods could be stopped on, how many are compared: the larger of a share and a number. */
  readonly candidates: { readonly percentage: number; readonly absolute: number }
  /** The share of the nodes that the search looks at, in percent; 0: all. */
  readonly percentageOfNodes: number
  /** Whether it sees to the volumes of its pods. */
  readonly bindsVolumes: boolean
  /** Whether it sees to the claims of devices. */
  readonly allocatesDevices: boolean
}

export const MOST = 100

export const isRefusal = (begun: Filtering | Refusal): begun is Refusal => 'reasons' in begun
