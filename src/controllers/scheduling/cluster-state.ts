/**
 * The nodes and pods that the scheduler knows, kept up to date with the changes since its last look. It is a cache: an
 * instance that begins anew reads everything, and tries all waiting pods.
 */
import type { Node, Pod } from '../../api/core/v1.ts'
import type { Revision } from '../../storage/storage.ts'
import type { Changes } from '../resource-client.ts'
import { isFinished } from '../workloads/pod-state.ts'
import { NodeState } from './node-state.ts'
import { PodInfo } from './pod-info.ts'
import type { Profiles } from './profile.ts'
import type { Search } from './schedule.ts'
import type { ClusterEvent } from './wake-up.ts'

/** A pod without a node. */
export interface Waiting {
  readonly pod: Pod
  readonly info: PodInfo
  /** UTF-16 units of the pod. */
  readonly length: number
  /** The plug-ins that refused it when it was last tried; undefined: it is to be tried. */
  refusedBy?: ReadonlySet<string> | undefined
  /** Where its binding was refused: when it is to be tried again, in milliseconds since 1970, and how often it was tried. */
  retry?: { readonly at: number; readonly tries: number; readonly isHelped?: true } | undefined
}

interface Assigned {
  readonly info: PodInfo
  readonly node: string
}

/** Pods beyond which nothing is kept between two looks: some 40 MB. */
const MOST_KEPT = 20_000
/** Characters of nodes and pods beyond which nothing is kept either. */
const MOST_LENGTH = 24 * 1024 * 1024

export class ClusterState {
  /** Bound: what one look reads; between two looks MOST_KEPT pods, and MOST_LENGTH of all: beyond them it is begun anew. */
  private readonly nodes = new Map<string, NodeState>()
  /** By NAMESPACE/NAME. */
  private readonly assigned = new Map<string, Assigned>()
  private readonly ofAbsentNodes = new Map<string, Map<string, PodInfo>>()
  readonly waiting = new Map<string, Waiting>()
  private readonly happened = new Set<ClusterEvent>()
  podsAt: Revision | undefined
  nodesAt: Revision | undefined
  private listed: readonly NodeState[] | undefined
  /** Characters of nodes, of pods that wait, and of what is known of the others. */
  private total = 0

  /** Where the next search for places begins, in a profile that does not look at all nodes. */
  readonly search: Search = { from: 0 }

  get length(): number {
    return this.total
  }

  get isTooLarge(): boolean {
    return this.assigned.size + this.waiting.size > MOST_KEPT || this.total > MOST_LENGTH
  }

  /** In the order of their names, those that are being deleted left out. */
  get all(): readonly NodeState[] {
    return (this.listed ??= [...this.nodes.values()]
      .filter(({ node }) => node.metadata.deletionTimestamp === undefined)
      .sort((a, b) => (a.name < b.name ? -1 : 1)))
  }

  /** What happened since this was last asked. */
  takeEvents(): ReadonlySet<ClusterEvent> {
    const events = new Set(this.happened)
    this.happened.clear()
    return events
  }

  tell(event: ClusterEvent): void {
    this.happened.add(event)
  }

  takeNodes({ revision, reset, changed }: Changes<Node>): void {
    if (reset) for (const name of [...this.nodes.keys()]) this.removeNode(name)
    for (const { key, object, length } of changed) {
      if (object === undefined) this.removeNode(key)
      else this.putNode(object, length)
    }
    this.nodesAt = revision
    this.listed = undefined
  }

  private putNode(node: Node, length: number): void {
    const name = node.metadata.name ?? ''
    const before = this.nodes.get(name)
    this.tell(before === undefined ? 'NodeAdded' : 'NodeChanged')
    const state = new NodeState(node, length)
    this.total += length - (before?.length ?? 0)
    for (const pod of before?.pods.values() ?? this.ofAbsentNodes.get(name)?.values() ?? []) state.add(pod)
    for (const [uid, pod] of before?.nominated ?? []) state.nominated.set(uid, pod)
    if (before === undefined)
      for (const { info } of this.waiting.values()) if (info.nominatedNode === name) state.nominated.set(info.uid, info)
    this.ofAbsentNodes.delete(name)
    this.nodes.set(name, state)
  }

  private removeNode(name: string): void {
    const node = this.nodes.get(name)
    if (node === undefined) return
    this.tell('NodeGone')
    if (node.pods.size > 0) this.ofAbsentNodes.set(name, new Map(node.pods))
    this.nodes.delete(name)
    this.total -= node.length
  }

  /** @param profiles of the pods that need nodes */
  takePods({ revision, reset, changed }: Changes<Pod>, profiles: Profiles): void {
    if (reset) for (const key of [...this.assigned.keys(), ...this.waiting.keys()]) this.forget(key)
    for (const { key, object, length } of changed) this.putPod(key, object, length, profiles)
    this.podsAt = revision
  }

  private putPod(key: string, pod: Pod | undefined, length: number, profiles: Profiles): void {
    if (pod === undefined || isFinished(pod)) return this.forget(key)
    const node = pod.spec?.nodeName
    if (node) return this.assign(key, new PodInfo(pod), node)
    const isWaiting =
      pod.metadata.deletionTimestamp === undefined &&
      (pod.spec?.schedulingGates ?? []).length === 0 &&
      profiles.has(pod.spec?.schedulerName ?? '')
    const before = this.waiting.get(key)
    this.forget(key)
    if (!isWaiting) return
    const info = new PodInfo(pod)
    // a new status matters only where the pod's requests change
    const { refusedBy, retry } = before !== undefined && isSameWish(before.pod, pod) ? before : {}
    this.wait(key, { pod, info, length, refusedBy, retry })
    if (info.nominatedNode !== '') this.nodes.get(info.nominatedNode)?.nominated.set(info.uid, info)
  }

  private wait(key: string, waiting: Waiting): void {
    this.total += waiting.length - (this.waiting.get(key)?.length ?? 0)
    this.waiting.set(key, waiting)
  }

  /** Of a pod that is bound in this moment, too: its change comes later. */
  assign(key: string, info: PodInfo, node: string): void {
    const before = this.assigned.get(key)
    if (before === undefined) this.tell('PodAssigned')
    else if (before.info.uid !== info.uid || before.node !== node) this.tell('AssignedPodGone')
    else if (hasChanged(before.info, info)) this.tell('AssignedPodChanged')
    this.leave(key)
    this.stopWaiting(key)
    this.assigned.set(key, { info, node })
    this.total += info.length
    const state = this.nodes.get(node)
    if (state !== undefined) return state.add(info)
    const others = this.ofAbsentNodes.get(node) ?? new Map<string, PodInfo>()
    this.ofAbsentNodes.set(node, others.set(info.uid, info))
  }

  /** It was not bound after all. */
  unassign(key: string, waiting: Waiting): void {
    this.leave(key)
    this.wait(key, waiting)
  }

  private forget(key: string): void {
    if (this.assigned.has(key)) this.tell('AssignedPodGone')
    this.leave(key)
    this.stopWaiting(key)
  }

  private leave(key: string): void {
    const before = this.assigned.get(key)
    if (before === undefined) return
    this.assigned.delete(key)
    this.total -= before.info.length
    this.nodes.get(before.node)?.remove(before.info)
    const others = this.ofAbsentNodes.get(before.node)
    others?.delete(before.info.uid)
    if (others?.size === 0) this.ofAbsentNodes.delete(before.node)
  }

  private stopWaiting(key: string): void {
    const before = this.waiting.get(key)
    if (before === undefined) return
    this.waiting.delete(key)
    this.total -= before.length
    this.nodes.get(before.info.nominatedNode)?.nominated.delete(before.info.uid)
  }

  /** Gives a pod that waits a place that is being made for it, or takes it away again. */
  nominate(key: string, waiting: Waiting, node: string): void {
    this.stopWaiting(key)
    const pod: Pod = { ...waiting.pod, status: { ...waiting.pod.status, nominatedNodeName: node } }
    const info = new PodInfo(pod)
    this.wait(key, { ...waiting, pod, info })
    this.nodes.get(node)?.nominated.set(info.uid, info)
  }
}

const isSameWish = (a: Pod, b: Pod): boolean =>
  a.metadata.uid === b.metadata.uid &&
  a.metadata.generation === b.metadata.generation &&
  JSON.stringify([a.metadata.labels, a.status?.resourceClaimStatuses]) ===
    JSON.stringify([b.metadata.labels, b.status?.resourceClaimStatuses])

function hasChanged(before: PodInfo, now: PodInfo): boolean {
  if (JSON.stringify(before.labels) !== JSON.stringify(now.labels) || before.isTerminating !== now.isTerminating)
    return true
  for (const [name, amount] of before.needs) if ((now.needs.get(name) ?? 0) < amount) return true
  return false
}
