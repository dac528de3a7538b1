/**
 * The state of the kubelets of simulated nodes between two runs: the nodes, the keys of their pods, addresses, used
 * resources, and when a pod is due. It is a cache: a new instance reads everything. It keeps no pod objects.
 */
import { BoundedMap } from '../../base/bounded-map.ts'
import { leastOf } from '../../base/extremes.ts'
import type { Node, Pod } from '../../api/core/v1.ts'
import type { Revision } from '../../storage/storage.ts'
import type { Changes } from '../client/resource-client.ts'
import { isFinished } from '../workloads/pods/pod-state.ts'
import { addressesOf } from './addresses.ts'
import { NodeUse, PodUse } from './node-use.ts'

/** With more pods than this, the controller keeps nothing between two runs: some 30 MB. */
const MOST_KEPT = 50_000
/** With more characters of nodes and of the state of pods than this, it keeps nothing either. */
const MOST_LENGTH = 24 * 1024 * 1024

interface KnownPod {
  readonly ip: string | undefined
  /** Milliseconds since 1970. */
  due?: number | undefined
  /** Whether the pod waits for its claims of devices. */
  isWaiting?: true
  /** The node's resources that the pod uses, after its kubelet has admitted it. */
  use?: PodUse
  /** Whether the kubelet refuses the pod and reports that later. */
  isHeld?: true
  /** The API's refusals of its writes in a row. */
  failures?: Refused | undefined
}

/**
 * For each owner of refused pods: the number of refusals in a row, and the time of the last one in milliseconds since
 * 1970.
 */
interface Refused {
  readonly times: number
  readonly at: number
}

const MOST_REFUSED = 1_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 300_000
/** Milliseconds without a refusal after which the count of an owner starts again. */
const FORGOTTEN_MS = 600_000

/** Characters that the state of a pod has at least. */
const LEAST = 100

/** The state of one node's kubelet. Its pods are by NAMESPACE/NAME. */
export class KubeletNode {
  readonly pods = new Map<string, KnownPod>()
  readonly use = new NodeUse()

  constructor(
    /** The node as it was last read. */
    public node: Node,
    /** One for each family. */
    readonly hostIPs: readonly string[],
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

  /** Makes refused pods due that are not reported yet: the kubelet may admit them now. */
  tellHeld(): void {
    for (const pod of this.pods.values()) if (pod.isHeld === true) pod.due = 0
  }
}

export class KubeletState {
  podsAt: Revision | undefined
  nodesAt: Revision | undefined
  /**
   * Bound: what one run reads. Between two runs: MOST_KEPT pods, and MOST_LENGTH characters in all. The controller
   * drops a larger state.
   */
  readonly nodes = new Map<string, KubeletNode>()
  /** By the UID of the pods' controller, or by the pod if it has none. Bound: MOST_REFUSED. */
  private readonly refused = new BoundedMap<string, Refused>({ entries: MOST_REFUSED })
  /** The name of a pod's node, by NAMESPACE/NAME of the pod. */
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
    const internal = (node.status?.addresses ?? []).filter(({ type }) => type === 'InternalIP')
    const hostIPs = internal.length === 0 ? [''] : internal.slice(0, 2).map(({ address = '' }) => address)
    const known = this.nodes.get(name)
    if (known === undefined || known.podCIDR !== node.spec?.podCIDR || known.hostIPs.join() !== hostIPs.join()) {
      this.nodes.set(name, new KubeletNode(node, hostIPs, length))
      return true
    }
    known.node = node
    known.ownLength = length
    known.tellHeld()
    return false
  }

  /** Forgets all pods. The caller adds them again with putPod(). */
  forgetPods(): void {
    this.nodeOf.clear()
    for (const [name, { node, hostIPs, ownLength }] of this.nodes)
      this.nodes.set(name, new KubeletNode(node, hostIPs, ownLength))
  }

  /** @returns whether the pod is on a simulated node */
  putPod(key: string, pod: Pod | undefined): boolean {
    const name = pod?.spec?.nodeName
    const node = name === undefined ? undefined : this.nodes.get(name)
    const before = this.nodeOf.get(key)
    const known = before === undefined ? undefined : this.nodes.get(before)?.pods.get(key)
    if (before !== undefined) this.removePod(key, before, pod)
    if (pod === undefined || name === undefined || node === undefined) return false
    const use = useOf(pod, known?.use)
    node.pods.set(key, { ip: pod.status?.podIP, ...(use === undefined ? {} : { use }), failures: known?.failures })
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
    // a pod that got no address may get this one
    for (const other of node.pods.values()) if (other.ip === undefined) other.due ??= 0
  }

  /** Whether a pod of the node has the address, as the state was last read. */
  hasAddress({ node }: KubeletNode, ip: string): boolean {
    for (const pod of this.nodes.get(node.metadata?.name ?? '')?.pods.values() ?? []) if (pod.ip === ip) return true
    return false
  }

  /** Whether the kubelet has admitted the pod. */
  isAdmitted(key: string): boolean {
    return this.podOf(key)?.use !== undefined
  }

  admit(key: string, use: PodUse): void {
    const pod = this.podOf(key)
    if (pod === undefined) return
    pod.use = use
    this.nodes.get(this.nodeOf.get(key) ?? '')?.use.put(key, use)
  }

  /** Frees the resources of a pod that its kubelet ends. @returns what they were */
  release(key: string): PodUse | undefined {
    const pod = this.podOf(key)
    const use = pod?.use
    delete pod?.use
    this.nodes.get(this.nodeOf.get(key) ?? '')?.use.remove(key)
    return use
  }

  /**
   * Milliseconds for which a refusal waits, because the owner of a refused pod often replaces it at once. 0: the
   * kubelet reports it now.
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

  /**
   * Sets when the kubelet tries again to write a pod, after the API refused that. The pauses grow, and other pods do not
   * wait meanwhile.
   */
  holdFailure(key: string, now: number): void {
    const pod = this.podOf(key)
    if (pod === undefined) return
    const times = pod.failures === undefined || now - pod.failures.at > FORGOTTEN_MS ? 0 : pod.failures.times
    pod.failures = { times: times + 1, at: now }
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** times, LONGEST_PAUSE_MS)
    pod.due = now + pause
  }

  private podOf(key: string): KnownPod | undefined {
    return this.nodes.get(this.nodeOf.get(key) ?? '')?.pods.get(key)
  }

  /** Sets when the kubelet handles the pod next; undefined: when the pod changes. */
  setDue(key: string, due: number | undefined): void {
    const pod = this.podOf(key)
    if (pod !== undefined) pod.due = due
  }

  /** Marks a pod that starts when its claims are allocated and reserved for it. */
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

  /** When the next pod is due, in milliseconds since 1970. */
  nextDue(): number | undefined {
    const times: number[] = []
    for (const { pods } of this.nodes.values())
      for (const { due } of pods.values()) if (due !== undefined) times.push(due)
    return times.length === 0 ? undefined : leastOf(times)
  }
}

/** Undefined: the pod has ended, or the kubelet has not admitted it yet. An admitted pod has a startTime. */
function useOf(pod: Pod, known: PodUse | undefined): PodUse | undefined {
  const isAdmitted = pod.status?.startTime !== undefined || (known !== undefined && known.uid === pod.metadata.uid)
  if (isFinished(pod) || !isAdmitted) return undefined
  return known?.isOf(pod) === true ? known : new PodUse(pod)
}

/** Allocates the free addresses of nodes during one run. */
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
