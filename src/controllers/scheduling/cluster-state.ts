/**
 * The nodes and pods that the scheduler knows. Each run applies the changes since the last one. This is a cache: a new
 * instance reads everything and tries all waiting pods.
 */
import type { Node, Pod } from '../../api/core/v1.ts'
import { charactersOf } from '../../base/bounded-map.ts'
import type { KubeObject } from '../../api/object.ts'
import { LARGE_POD, podHead } from '../client/pod-head.ts'
import type { Revision } from '../../storage/storage.ts'
import type { Changes } from '../client/resource-client.ts'
import { isFinished } from '../workloads/pods/pod-state.ts'
import { LateBindings } from './late-bindings.ts'
import { NodeState } from './node-state.ts'
import { PodInfo } from './pod-info.ts'
import type { Profiles } from './profile.ts'
import { RunningTerms } from './running-terms.ts'
import type { Search } from './schedule.ts'
import type { NodeChange, PodChange } from './framework.ts'
import type { ClusterEvent, Happened } from './wake-up.ts'
import type { CsiVolume } from './csi-volume.ts'
import { changesOf } from './wake-up.ts'

/** A pod without a node. */
export interface Waiting {
  /** As it is stored. */
  readonly pod: Pod
  /** With the node that the scheduler nominates. */
  readonly info: PodInfo
  /** UTF-16 units of the pod. */
  readonly length: number
  /** The plug-ins that refused the pod when it was last tried; undefined: the scheduler is to try it now. */
  refusedBy?: ReadonlySet<string> | undefined
  /** The volumes that are being made for the pod, by the names of its claims. */
  unmade?: ReadonlyMap<string, CsiVolume> | undefined
  /** The round in which the scheduler tried the pod. */
  round?: number
  /** After a refused binding, and while drivers prepare devices. */
  retry?: Retry | undefined
}

interface Retry {
  /** The time of the next try in milliseconds since 1970. Undefined: that try has begun. */
  readonly at: number | undefined
  readonly tries: number
  /** Whether an event may bring the try forward. */
  readonly isHelped?: true
}

/** A waiting pod that the scheduler is to try now, with its key. */
export type Due = readonly [key: string, waiting: Waiting]

interface Assigned {
  readonly info: PodInfo
  readonly node: string
}

/** Changes of pods that the scheduler tells apart. After more, each change may help each pod that waits. */
const MOST_CHANGES = 256

/** Comparisons of the terms of the changed pods with a pod that waits. After more, each change may help, too. */
const MOST_TERMS = 5_000

/** With more pods than this, the scheduler keeps nothing between two runs: some 40 MB. */
const MOST_KEPT = 20_000
/** With more characters of nodes and pods than this, it keeps nothing either. */
const MOST_LENGTH = 24 * 1024 * 1024

function headOf(pod: Pod & KubeObject): [head: Pod & KubeObject, weight: number] {
  const head = podHead(pod)
  return [head, charactersOf(head)]
}

export class ClusterState {
  constructor(private readonly late = new LateBindings()) {}

  /**
   * Bound: what one run reads. Between two runs: MOST_KEPT pods, and MOST_LENGTH characters in all. The
   * scheduler drops a larger state.
   */
  private readonly nodes = new Map<string, NodeState>()
  /** By NAMESPACE/NAME. */
  private readonly assigned = new Map<string, Assigned>()
  private readonly ofAbsentNodes = new Map<string, Map<string, PodInfo>>()
  readonly waiting = new Map<string, Waiting>()
  private readonly happened = new Set<ClusterEvent>()
  /** Changes of nodes since the last run. Bound: the changes that one run reads. */
  private changedNodes: NodeChange[] = []
  /** Changes of assigned pods since the last run, one of each kind. Undefined: more than MOST_CHANGES. */
  private changedPods: Map<string, PodChange> | undefined = new Map()
  private changedWeight = 0
  /** Counts how often all waiting pods had their turn. */
  private round = 0
  /** Whether the last run had no time for all of its pods. */
  private isBehind = false
  podsAt: Revision | undefined
  nodesAt: Revision | undefined
  /** Of the pods on nodes that are there. */
  readonly terms = new RunningTerms()
  private listed: readonly NodeState[] | undefined
  /** Characters of nodes, of waiting pods, and of the `PodInfo` of assigned pods. */
  private total = 0

  /** Where the next search for a node begins, in a profile that does not check all nodes. */
  readonly search: Search = { from: 0 }

  get length(): number {
    return this.total
  }

  get isTooLarge(): boolean {
    return this.assigned.size + this.waiting.size > MOST_KEPT || this.total > MOST_LENGTH
  }

  /** All nodes sorted by name. One that is being deleted and has finalizers is as good as others. */
  get all(): readonly NodeState[] {
    return (this.listed ??= [...this.nodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1)))
  }

  node(name: string): NodeState | undefined {
    return this.nodes.get(name)
  }

  /** The events since the last call. */
  takeEvents(): Happened {
    const taken = {
      events: new Set(this.happened),
      nodes: this.changedNodes,
      pods: this.changedPods && [...this.changedPods.values()],
    }
    this.happened.clear()
    this.changedPods = new Map()
    this.changedWeight = 0
    this.changedNodes = []
    return taken
  }

  tell(event: ClusterEvent): void {
    this.happened.add(event)
  }

  private tellOfPod(event: ClusterEvent, change: PodChange): void {
    this.tell(event)
    const key = `${change.before?.kind ?? ''}\n${change.now?.kind ?? ''}`
    if (this.changedPods === undefined || this.changedPods.has(key)) return
    this.changedPods.set(key, change)
    this.changedWeight += Math.max(change.before?.termsWeight ?? 0, change.now?.termsWeight ?? 0)
    if (this.changedPods.size > MOST_CHANGES || this.changedWeight > MOST_TERMS) this.changedPods = undefined
  }

  takeNodes({ revision, reset, changed }: Changes<Node>): void {
    if (reset) for (const name of [...this.nodes.keys()]) this.removeNode(name)
    const isSomeNew = changed.some(({ key, object }) => object !== undefined && !this.nodes.has(key))
    const nominated = isSomeNew ? this.nominatedByNode() : new Map<string, PodInfo[]>()
    for (const { key, object, length } of changed) {
      if (object === undefined) this.removeNode(key)
      else this.putNode(object, length, nominated)
    }
    this.nodesAt = revision
    this.listed = undefined
  }

  private nominatedByNode(): Map<string, PodInfo[]> {
    const infos = [...this.waiting.values()].map(({ info }) => info)
    return Map.groupBy(
      infos.filter(({ nominatedNode }) => nominatedNode !== ''),
      ({ nominatedNode }) => nominatedNode,
    )
  }

  private putNode(node: Node, length: number, nominated: ReadonlyMap<string, readonly PodInfo[]>): void {
    const name = node.metadata.name ?? ''
    const before = this.nodes.get(name)
    const state = new NodeState(node, length, this.terms, before)
    const change = { before, now: state }
    const events = changesOf(change)
    for (const event of events) this.tell(event)
    if (events.length > 0) this.changedNodes.push(change)
    this.total += length - (before?.length ?? 0)
    if (before === undefined) {
      for (const pod of this.ofAbsentNodes.get(name)?.values() ?? []) state.add(pod)
      for (const info of nominated.get(name) ?? []) state.nominated.set(info.uid, info)
      this.ofAbsentNodes.delete(name)
    }
    this.nodes.set(name, state)
  }

  private removeNode(name: string): void {
    const node = this.nodes.get(name)
    if (node === undefined) return
    this.tell('NodeGone')
    if (node.pods.size > 0) this.ofAbsentNodes.set(name, new Map(node.pods))
    for (const pod of node.pods.values()) this.terms.count(pod, name, -1)
    this.nodes.delete(name)
    this.total -= node.length
  }

  /** @param profiles only pods that name one of these schedulers wait */
  takePods({ revision, reset, changed }: Changes<Pod>, profiles: Profiles): void {
    if (reset) for (const key of [...this.assigned.keys(), ...this.waiting.keys()]) this.forget(key)
    for (const { key, object, length } of changed) this.putPod(key, object, length, profiles)
    this.podsAt = revision
  }

  private putPod(key: string, pod: Pod | undefined, length: number, profiles: Profiles): void {
    const isGone = pod === undefined || isFinished(pod)
    if (isGone || pod.spec?.nodeName || pod.metadata.deletionTimestamp !== undefined) this.late.forget(key)
    if (isGone) return this.forget(key)
    const node = pod.spec?.nodeName || this.late.nodeOfChanged(key, pod)
    if (node) return this.assign(key, new PodInfo(pod), node)
    const isWaiting =
      pod.metadata.deletionTimestamp === undefined &&
      (pod.spec?.schedulingGates ?? []).length === 0 &&
      profiles.has(pod.spec?.schedulerName ?? '')
    const before = this.waiting.get(key)
    const info = new PodInfo(pod)
    this.forget(key, info)
    if (!isWaiting) return
    // a new status is a reason to try again only if the pod's claims changed
    const { refusedBy, retry, unmade } = before !== undefined && isSameWish(before.pod, pod) ? before : {}
    // what is kept weighs what it has
    const [kept, weight] = length <= LARGE_POD ? [pod, length] : headOf(pod)
    this.wait(key, {
      pod: kept,
      info,
      length: weight,
      refusedBy,
      retry,
      unmade,
      ...(before?.round === undefined ? {} : { round: before.round }),
    })
    if (info.nominatedNode !== '') this.nodes.get(info.nominatedNode)?.nominated.set(info.uid, info)
  }

  /**
   * The pods that the scheduler tries next, the most urgent one first. If there are more than `most`, or the last run had
   * no time for all of its pods, each waiting pod is tried once before one is tried again. So important pods that fit
   * nowhere do not hold up all others.
   */
  next(due: readonly Due[], most: number): readonly Due[] {
    let left = due.filter(([, { round }]) => round !== this.round)
    if (left.length === 0 || (due.length <= most && !this.isBehind)) {
      left = [...due]
      this.round++
    }
    this.isBehind = false
    return left.sort(([, a], [, b]) => moreUrgent(a.info, b.info)).slice(0, most)
  }

  /** The scheduler tries a pod that `next` returned. */
  begin(waiting: Waiting): void {
    waiting.round = this.round
    if (waiting.retry !== undefined) waiting.retry = { ...waiting.retry, at: undefined }
  }

  /** The run ends before it tried all pods that `next` returned. */
  fallBehind(): void {
    this.isBehind = true
  }

  private wait(key: string, waiting: Waiting): void {
    this.total += waiting.length - (this.waiting.get(key)?.length ?? 0)
    this.waiting.set(key, waiting)
  }

  /** Also assigns a pod that is being bound, before the change of the stored pod arrives. */
  assign(key: string, info: PodInfo, node: string): void {
    const before = this.assigned.get(key)
    if (before === undefined) this.tellOfPod('PodAssigned', { before: undefined, now: info })
    else if (before.info.uid !== info.uid || before.node !== node)
      this.tellOfPod('AssignedPodGone', { before: before.info, now: info })
    else if (hasChanged(before.info, info)) this.tellOfPod('AssignedPodChanged', { before: before.info, now: info })
    this.leave(key)
    this.stopWaiting(key)
    this.assigned.set(key, { info, node })
    this.total += info.length
    const state = this.nodes.get(node)
    if (state !== undefined) return state.add(info)
    const others = this.ofAbsentNodes.get(node) ?? new Map<string, PodInfo>()
    this.ofAbsentNodes.set(node, others.set(info.uid, info))
  }

  /** Takes an assignment back, because the pod was not bound. Other pods were refused because of this one. */
  release(key: string, waiting: Waiting): void {
    this.tellOfPod('AssignedPodGone', { before: waiting.info, now: undefined })
    this.unassign(key, waiting)
  }

  /** Takes an assignment back. The caller nominates the node, so that it is kept for the pod. */
  unassign(key: string, waiting: Waiting): void {
    this.leave(key)
    this.wait(key, waiting)
  }

  /** @param now the pod as it waits from now on; undefined: it waits no more */
  private forget(key: string, now?: PodInfo): void {
    this.tellOfPlace(key, now?.nominatedNode)
    const before = this.assigned.get(key)
    if (before !== undefined) this.tellOfPod('AssignedPodGone', { before: before.info, now: undefined })
    this.leave(key)
    this.stopWaiting(key)
  }

  /** Others were refused because a node was kept for the waiting pod. @param next the node that is kept from now on */
  private tellOfPlace(key: string, next: string | undefined): void {
    const before = this.waiting.get(key)?.info
    if (before !== undefined && before.nominatedNode !== '' && before.nominatedNode !== next)
      this.tellOfPod('AssignedPodGone', { before, now: undefined })
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

  /** The volumes that are being made for a waiting pod. */
  unmade({ namespace, name, uid }: PodInfo): Waiting['unmade'] {
    const waiting = this.waiting.get(`${namespace}/${name}`)
    return waiting?.info.uid === uid ? waiting.unmade : undefined
  }

  /** Sets the nominated node of a waiting pod. */
  nominate(key: string, waiting: Waiting, node: string): void {
    this.tellOfPlace(key, node)
    this.stopWaiting(key)
    const info = new PodInfo({ ...waiting.pod, status: { ...waiting.pod.status, nominatedNodeName: node } })
    this.wait(key, { ...waiting, info })
    this.nodes.get(node)?.nominated.set(info.uid, info)
  }
}

const moreUrgent = (a: PodInfo, b: PodInfo): number => b.priority - a.priority || a.createdAt - b.createdAt

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
