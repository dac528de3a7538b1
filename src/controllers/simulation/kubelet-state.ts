/**
 * What the kubelets of simulated nodes know between two looks: the nodes, which pods are on them, their addresses, and
 * when something of them is due. It is a cache: an instance that begins anew reads everything. No pod is kept.
 */
import { leastOf } from '../../api/extremes.ts'
import type { Node, Pod } from '../../api/core/v1.ts'
import type { Revision } from '../../storage/storage.ts'
import type { Changes } from '../resource-client.ts'
import { addressesOf } from './addresses.ts'

/** Pods beyond which nothing is kept between two looks: some 30 MB. */
const MOST_KEPT = 100_000

interface KnownPod {
  readonly ip: string | undefined
  /** Milliseconds since 1970. */
  due?: number | undefined
  /** For its claims of devices. */
  isWaiting?: true
}

/** Of one node: its pods by NAMESPACE/NAME. */
export class KubeletNode {
  readonly pods = new Map<string, KnownPod>()

  constructor(
    readonly podCIDR: string | undefined,
    readonly hostIP: string,
  ) {}
}

export class KubeletState {
  podsAt: Revision | undefined
  nodesAt: Revision | undefined
  /** Bound: the simulated nodes, whose pods beyond MOST_KEPT are forgotten with all else. */
  readonly nodes = new Map<string, KubeletNode>()
  /** By NAMESPACE/NAME, on which of the nodes a pod is. */
  private readonly nodeOf = new Map<string, string>()

  get isTooLarge(): boolean {
    return this.nodeOf.size > MOST_KEPT
  }

  /** @returns nodes of which nothing is known yet, or whose addresses are others now: their pods are to be read */
  takeNodes({ revision, reset, changed }: Changes<Node>, isSimulated: (node: Node) => boolean): string[] {
    if (reset) this.nodes.clear()
    const unknown: string[] = []
    for (const { key, object } of changed) {
      if (object === undefined || !isSimulated(object)) this.nodes.delete(key)
      else if (this.putNode(key, object)) unknown.push(key)
    }
    this.nodesAt = revision
    return unknown
  }

  private putNode(name: string, { spec, status }: Node): boolean {
    const hostIP = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? ''
    const known = this.nodes.get(name)
    if (known?.podCIDR === spec?.podCIDR && known?.hostIP === hostIP) return false
    this.nodes.set(name, new KubeletNode(spec?.podCIDR, hostIP))
    return true
  }

  /** Everything is told anew. */
  forgetPods(): void {
    this.nodeOf.clear()
    for (const { pods } of this.nodes.values()) pods.clear()
  }

  /** @returns whether it is on one of the nodes */
  putPod(key: string, pod: Pod | undefined): boolean {
    const name = pod?.spec?.nodeName
    const node = name === undefined ? undefined : this.nodes.get(name)
    const before = this.nodeOf.get(key)
    if (before !== undefined) this.removePod(key, before, pod?.status?.podIP)
    if (pod === undefined || name === undefined || node === undefined) return false
    node.pods.set(key, { ip: pod.status?.podIP })
    this.nodeOf.set(key, name)
    return true
  }

  private removePod(key: string, name: string, kept: string | undefined): void {
    this.nodeOf.delete(key)
    const pods = this.nodes.get(name)?.pods
    const before = pods?.get(key)
    pods?.delete(key)
    if (pods === undefined || before?.ip === undefined || before.ip === kept) return
    // one that found no address may have this one
    for (const pod of pods.values()) if (pod.ip === undefined) pod.due ??= 0
  }

  /** The pod is to be looked at then; undefined: when it changes. */
  setDue(key: string, due: number | undefined): void {
    const pod = this.nodes.get(this.nodeOf.get(key) ?? '')?.pods.get(key)
    if (pod !== undefined) pod.due = due
  }

  /** It starts when its claims are its own. */
  waitForClaims(key: string): void {
    const pod = this.nodes.get(this.nodeOf.get(key) ?? '')?.pods.get(key)
    if (pod !== undefined) pod.isWaiting = true
  }

  /** All that wait for claims are to be looked at. */
  tellOfClaims(): void {
    for (const { pods } of this.nodes.values()) for (const pod of pods.values()) if (pod.isWaiting === true) pod.due = 0
  }

  /** Keys of pods whose time has come. */
  due(now: number, limit: number): string[] {
    const keys: string[] = []
    for (const { pods } of this.nodes.values())
      for (const [key, { due }] of pods) {
        if (keys.length === limit) return keys
        if (due !== undefined && due <= now) keys.push(key)
      }
    return keys
  }

  /** Milliseconds since 1970. */
  nextDue(): number | undefined {
    const times: number[] = []
    for (const { pods } of this.nodes.values())
      for (const { due } of pods.values()) if (due !== undefined) times.push(due)
    return times.length === 0 ? undefined : leastOf(times)
  }
}

/** Gives out the free addresses of nodes, in the course of one look. */
export class FreeAddresses {
  private readonly next = new Map<KubeletNode, () => string | undefined>()

  allocatorOf(node: KubeletNode): () => string | undefined {
    const known = this.next.get(node)
    if (known !== undefined) return known
    const taken = new Set([...node.pods.values()].flatMap(({ ip }) => ip ?? []))
    const allocate = addressesOf(node.podCIDR, taken)
    this.next.set(node, allocate)
    return allocate
  }
}
