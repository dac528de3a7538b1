/**
 * The knowledge of the kubelets of simulated nodes between two looks: the nodes, the keys of their pods, addresses,
 * used resources, and when a pod is due. It is a cache: an instance that begins anew reads everything. It keeps no pod.
 */
import { BoundedMap } from '../../api/bounded-map.ts'
import { leastOf } from '../../api/extremes.ts'
import type { Node, Pod } from '../../api/core/v1.ts'
import type { Revision } from '../../storage/storage.ts'
import type { Changes } from '../resource-client.ts'
import { isFinished } from '../workloads/pod-state.ts'
import { addressesOf } from './addresses.ts'
import { NodeUse, PodUse } from './node-use.ts'

/** Pods beyond which nothing is kept between two looks: some 30 MB. */
const MOST_KEPT = 50_000
/** Characters of nodes, and of what is known of pods, beyond which nothing is kept either. */
const MOST_LENGTH = 24 * 1024 * 1024

interface KnownPod {
  readonly ip: string | undefined
  /** Milliseconds since 1970. */
  due?: number | undefined
  /** For its claims of devices. */
  isWaiting?: true
  /** The resources that it uses of its node, once its kubelet has admitted it. */
  use?: PodUse
  /** The kubelet refuses it, and reports that later. */
  isHeld?: true
}

/**
 * For each owner of refused pods: how many were refused in a row, and when the last was, in milliseconds since 1970.
 */
interface Refused {
  readonly times: number
  readonly at: number
}

const MOST_REFUSED = 1_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 300_000
/** An owner without a refusal for so long begins anew. */
const FORGOTTEN_MS = 600_000

/** What is known of every pod. Characters. */
const LEAST = 100

/** Of one node: its pods by NAMESPACE/NAME. */
export class KubeletNode {
  readonly pods = new Map<string, KnownPod>()
  readonly use = new NodeUse()

  constructor(
    /** As it was last seen. */
    public node: Node,
    readonly hostIP: string,
    /** UTF-16 units of the node. */
    public ownLength: number,
  ) {}

  /** Characters. */
  get length(): number {
    let sum = this.ownLength
    for (const [key, { use }] of this.pods) sum += key.length + LEAST + (use?.length ?? 0)
    return sum
  }

  get podCIDR(): string | undefined {
    return this.node.spec?.podCIDR
  }

  /** Those that were not taken in may be now. */
  tellHeld(): void {
    for (const pod of this.pods.values()) if (pod.isHeld === true) pod.due = 0
  }
}

export class KubeletState {
  podsAt: Revision | undefined
  nodesAt: Revision | undefined
  /** Bound: what one look reads; between two looks MOST_KEPT pods, and MOST_LENGTH of all: beyond them it is begun anew. */
  readonly nodes = new Map<string, KubeletNode>()
  /** By the controller of the pods, or the pod. Bound: MOST_REFUSED. */
  private readonly refused = new BoundedMap<string, Refused>({ entries: MOST_REFUSED })
  /** By NAMESPACE/NAME, on which of the nodes a pod is. */
  private readonly nodeOf = new Map<string, string>()

  get length(): number {
    let sum = 0
    for (const node of this.nodes.values()) sum += node.length
    return sum
  }

  get isTooLarge(): boolean {
    return this.nodeOf.size > MOST_KEPT || this.length > MOST_LENGTH
  }

  /** @returns new nodes, and nodes whose addresses changed: the caller reads their pods */
  takeNodes({ revision, reset, changed }: Changes<Node>, isSimulated: (node: Node) => boolean): string[] {
    if (reset) this.nodes.clear()
    const unknown: string[] = []
    for (const { key, object, length } of changed) {
      if (object === undefined || !isSimulated(object)) this.nodes.delete(key)
      else if (this.putNode(key, object, length)) unknown.push(key)
    }
    this.nodesAt = revision
    return unknown
  }

  private putNode(name: string, node: Node, length: number): boolean {
    const hostIP = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? ''
    const known = this.nodes.get(name)
    if (known === undefined || known.podCIDR !== node.spec?.podCIDR || known.hostIP !== hostIP) {
      this.nodes.set(name, new KubeletNode(node, hostIP, length))
      return true
    }
    known.node = node
    known.ownLength = length
    known.tellHeld()
    return false
  }

  /** The caller reports everything again. */
  forgetPods(): void {
    this.nodeOf.clear()
    for (const [name, { node, hostIP, ownLength }] of this.nodes)
      this.nodes.set(name, new KubeletNode(node, hostIP, ownLength))
  }

  /** @returns whether it is on one of the nodes */
  putPod(key: string, pod: Pod | undefined): boolean {
    const name = pod?.spec?.nodeName
    const node = name === undefined ? undefined : this.nodes.get(name)
    const before = this.nodeOf.get(key)
    const known = before === undefined ? undefined : this.nodes.get(before)?.pods.get(key)
    if (before !== undefined) this.removePod(key, before, pod)
    if (pod === undefined || name === undefined || node === undefined) return false
    const use = useOf(pod, known?.use)
    node.pods.set(key, { ip: pod.status?.podIP, ...(use === undefined ? {} : { use }) })
    if (use !== undefined) node.use.put(key, use)
    this.nodeOf.set(key, name)
    return true
  }

  private removePod(key: string, name: string, pod: Pod | undefined): void {
    this.nodeOf.delete(key)
    const node = this.nodes.get(name)
    const before = node?.pods.get(key)
    node?.pods.delete(key)
    if (node === undefined || before === undefined) return
    if (before.use !== undefined) {
      node.use.remove(key)
      if (pod === undefined || isFinished(pod)) node.tellHeld()
    }
    if (before.ip === undefined || before.ip === pod?.status?.podIP) return
    // one that found no address may have this one
    for (const other of node.pods.values()) if (other.ip === undefined) other.due ??= 0
  }

  /** Whether its kubelet has taken it in. */
  isAdmitted(key: string): boolean {
    return this.podOf(key)?.use !== undefined
  }

  admit(key: string, use: PodUse): void {
    const pod = this.podOf(key)
    if (pod === undefined) return
    pod.use = use
    this.nodes.get(this.nodeOf.get(key) ?? '')?.use.put(key, use)
  }

  /** Its kubelet ends it: what it uses is free from now on. */
  release(key: string): void {
    const pod = this.podOf(key)
    if (pod === undefined) return
    delete pod.use
    this.nodes.get(this.nodeOf.get(key) ?? '')?.use.remove(key)
  }

  /**
   * How long a refusal waits, in milliseconds, because a refused pod is often made again at once. 0: it is reported
   * now.
   * @param who the controller of the pod, or the pod
   */
  holdRefusal(key: string, who: string, now: number): number {
    const known = this.refused.get(who)
    const { times, at } = known === undefined || now - known.at > FORGOTTEN_MS ? { times: 0, at: 0 } : known
    const pause = times === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (times - 1), LONGEST_PAUSE_MS)
    const wait = Math.max(0, at + pause - now)
    const pod = this.podOf(key)
    if (wait === 0) this.refused.set(who, { times: times + 1, at: now })
    else if (pod !== undefined) pod.isHeld = true
    return wait
  }

  private podOf(key: string): KnownPod | undefined {
    return this.nodes.get(this.nodeOf.get(key) ?? '')?.pods.get(key)
  }

  /** When to look at the pod next; undefined: when it changes. */
  setDue(key: string, due: number | undefined): void {
    const pod = this.podOf(key)
    if (pod !== undefined) pod.due = due
  }

  /** It starts when its claims are its own. */
  waitForClaims(key: string): void {
    const pod = this.podOf(key)
    if (pod !== undefined) pod.isWaiting = true
  }

  /** Makes all pods due that wait for claims. */
  tellOfClaims(): void {
    for (const { pods } of this.nodes.values()) for (const pod of pods.values()) if (pod.isWaiting === true) pod.due = 0
  }

  /** Keys of pods that are due. */
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

/** Undefined: it is over, or was not taken in yet. A kubelet says when it began with a pod that it took in. */
function useOf(pod: Pod, known: PodUse | undefined): PodUse | undefined {
  const isAdmitted = pod.status?.startTime !== undefined || (known !== undefined && known.uid === pod.metadata.uid)
  if (isFinished(pod) || !isAdmitted) return undefined
  return known?.isOf(pod) === true ? known : new PodUse(pod)
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
