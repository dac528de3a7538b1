/** Plans which pods of a DaemonSet to create and to delete, without writing anything. */
import type { DaemonSet } from '../../../api/apps/v1.ts'
import type { Node, Pod } from '../../../api/core/v1.ts'
import { eachPart, flatMapParts, kept, mapParts } from '../../../base/parts.ts'
import { PLANNED } from '../../work/in-turns.ts'
import { scaled } from '../deployment/numbers.ts'
import { hashOf } from './history.ts'
import { eligible, isUpdated, targetNode } from './nodes.ts'
import { isAvailable, isFinished, isReady, isTerminating } from '../pods/pod-state.ts'

/** The data of one reconciliation of a DaemonSet. */
export interface Daemons {
  readonly set: DaemonSet
  /** The hash of the current revision. */
  readonly hash: string
  readonly nodes: readonly Node[]
  /**
   * The pods by the node that they are on or intended for. The map has no pods without a node, and no finished pods
   * that are being deleted.
   */
  readonly pods: ReadonlyMap<string, readonly Pod[]>
  readonly now: Date
}

export interface Changes {
  /** The names of nodes that get a pod. */
  readonly create: readonly string[]
  readonly remove: readonly Pod[]
}

export function podsByNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const byNode = kept(pods, () => new Map<string, Pod[]>())
  const add = (pod: Pod): void => {
    const node = isFinished(pod) && isTerminating(pod) ? undefined : targetNode(pod)
    if (node === undefined) return
    const there = byNode.get(node)
    if (there === undefined) byNode.set(node, [pod])
    else there.push(pod)
  }
  eachPart(pods, add, PLANNED)
  return byNode
}

/** Sorts bound pods first, then older pods, then by name. */
export function olderPodFirst(a: Pod, b: Pod): number {
  const [onNodeA, onNodeB] = [a, b].map(({ spec }) => Boolean(spec?.nodeName))
  if (onNodeA !== onNodeB) return onNodeA ? -1 : 1
  const [createdA = '', createdB = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp]
  if (createdA !== createdB) return createdA < createdB ? -1 : 1
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
}

const availableIn = ({ set, now }: Daemons, pod: Pod): boolean => isAvailable(pod, set.spec?.minReadySeconds ?? 0, now)

const isRolling = ({ spec }: DaemonSet): boolean => spec?.updateStrategy?.type === 'RollingUpdate'

export function maxSurge(set: DaemonSet, nodes: number): number {
  return isRolling(set) ? scaled(set.spec?.updateStrategy?.rollingUpdate?.maxSurge, nodes, Math.ceil) : 0
}

const maxUnavailable = (set: DaemonSet, nodes: number): number =>
  isRolling(set) ? scaled(set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable, nodes, Math.ceil) : 0

/**
 * Plans one pod on each eligible node, and none elsewhere.
 * @param over whether to delete a finished pod now: failed pods may wait
 */
export function placement(daemons: Daemons, over: (node: string, pod: Pod) => boolean): Changes {
  const { create, remove, names } = kept(daemons, () => ({
    create: [] as string[],
    remove: [] as Pod[],
    names: new Set<string>(),
  }))
  const place = (node: Node): void => {
    const { name = '' } = node.metadata
    names.add(name)
    const there = daemons.pods.get(name)
    const { runs, stays } = eligible(daemons.set, node)
    if (there === undefined) {
      if (runs) create.push(name)
      return
    }
    const staying = there.filter((pod) => !isTerminating(pod))
    if (!stays) {
      for (const pod of staying) remove.push(pod)
      return
    }
    for (const pod of staying) if (isFinished(pod) && over(name, pod)) remove.push(pod)
    const running = staying.filter((pod) => !isFinished(pod)).sort(olderPodFirst)
    if (running.length === 0 && runs && maxSurge(daemons.set, 1) > 0) create.push(name)
    for (const pod of surplus(daemons, running)) remove.push(pod)
  }
  eachPart(daemons.nodes, place, PLANNED)
  // no other controller deletes pods that wait for a missing node
  for (const [node, pods] of daemons.pods)
    if (!names.has(node)) for (const pod of pods) if (!pod.spec?.nodeName) remove.push(pod)
  return { create, remove }
}

/**
 * The surplus pods of a node, which needs only one. During a surge it needs a pod of the current revision and a ready
 * pod of a former one.
 */
function surplus(daemons: Daemons, running: readonly Pod[]): readonly Pod[] {
  if (running.length <= 1) return []
  if (maxSurge(daemons.set, 1) === 0) return running.slice(1)
  const isNew = (pod: Pod) => hashOf(pod) === daemons.hash
  const [current, former] = [running.find(isNew), running.find((pod) => !isNew(pod))]
  const others = running.filter((pod) => pod !== current && pod !== former)
  if (current === undefined || former === undefined) return others
  return !isReady(former) || availableIn(daemons, current) ? [...others, former] : others
}

interface OfNode {
  readonly node: string
  readonly current: Pod | undefined
  readonly former: Pod | undefined
  readonly currentServes: boolean
  readonly formerServes: boolean
}

/** A node's pods by revision; undefined where there are too many, which `placement` deletes first. */
function ofNode(daemons: Daemons, node: string, pods: readonly Pod[]): OfNode | undefined {
  const { set, hash } = daemons
  const staying = pods.filter((pod) => !isTerminating(pod))
  const [current, ...moreCurrent] = staying.filter((pod) => isUpdated(set, pod, hash))
  const [former, ...moreFormer] = staying.filter((pod) => !isUpdated(set, pod, hash))
  if (moreCurrent.length > 0 || moreFormer.length > 0) return undefined
  const serves = (pod: Pod | undefined): boolean => pod !== undefined && availableIn(daemons, pod)
  return { node, current, former, currentServes: serves(current), formerServes: serves(former) }
}

/** Plans which pods of former revisions to delete, and which nodes get a surge pod. */
export function rollout(daemons: Daemons): Changes {
  const { set, nodes, pods } = daemons
  const wanted = flatMapParts(nodes, (node) => (eligible(set, node).runs ? [node.metadata.name ?? ''] : []), PLANNED)
  const all = kept(daemons, () => [...new Set([...wanted, ...pods.keys()])])
  const found = mapParts(all, (node) => ofNode(daemons, node, pods.get(node) ?? []), PLANNED)
  const surge = maxSurge(set, wanted.length)
  const unavailable = maxUnavailable(set, wanted.length)
  if (surge > 0) return surging(found, surge, wanted)
  return { create: [], remove: replaced(found, unavailable === 0 && wanted.length > 0 ? 1 : unavailable) }
}

/** The pods to replace: all unavailable ones, and others as long as at most `most` nodes have no available pod. */
function replaced(found: readonly (OfNode | undefined)[], most: number): readonly Pod[] {
  let unavailable = 0
  const anyhow: Pod[] = []
  const candidates: Pod[] = []
  for (const there of found) {
    const { current, former, currentServes, formerServes } = there ?? {}
    if ((current === undefined) === (former === undefined)) unavailable++
    else if (current !== undefined) unavailable += currentServes ? 0 : 1
    else if (former !== undefined && !formerServes) {
      anyhow.push(former)
      unavailable++
    } else if (former !== undefined) candidates.push(former)
  }
  return [...anyhow, ...candidates.slice(0, Math.max(0, most - unavailable))]
}

/** Plans a surge: at most `most` nodes have a second pod while the former one is available. */
function surging(found: readonly (OfNode | undefined)[], most: number, wanted: readonly string[]): Changes {
  const runs = new Set(wanted)
  const remove: Pod[] = []
  const misplaced: Pod[] = []
  const anyhow: string[] = []
  const candidates: string[] = []
  let [surges, available] = [0, 0]
  for (const there of found) {
    if (there === undefined) {
      surges++
      continue
    }
    const { node, current, former, currentServes, formerServes } = there
    if (former === undefined ? currentServes : formerServes) available++
    if (former === undefined) continue
    if (current !== undefined) {
      if (currentServes) remove.push(former)
      else surges++
    } else if (!runs.has(node)) (formerServes ? misplaced : remove).push(former)
    else (formerServes ? candidates : anyhow).push(node)
  }
  // a pod on a node that should have none stays until enough other pods are available
  const gone = misplaced.slice(0, Math.max(0, available - wanted.length))
  const create = [...anyhow, ...candidates.slice(0, Math.max(0, most - surges))]
  return { create, remove: [...remove, ...gone] }
}
