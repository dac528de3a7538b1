/** A node as the scheduler sees it: its capacity, the requests of its pods, and the pods themselves. */
import type { Node } from '../../api/core/v1.ts'
import { Quantity } from '../../schema/quantity.ts'
import { HostPorts } from './host-ports.ts'
import type { Needs, PodInfo } from './pod-info.ts'
import { amountOf } from './pod-info.ts'
import type { RunningTerms } from './running-terms.ts'

/** The most selectors for which a node keeps the number of matching pods. */
const MOST_COUNTS = 20

/** The pods of a node, and what they request. */
class Load {
  readonly pods = new Map<string, PodInfo>()
  readonly nominated = new Map<string, PodInfo>()
  readonly ports = new HostPorts()
  readonly requested = new Map<string, number>()
  /**
   * The number of matching pods of this node, by the selector's text. Bound: MOST_COUNTS. A change of its pods clears
   * it.
   */
  readonly counts = new Map<string, number>()
  /** Requests of cpu and memory, with a small default for pods without any. */
  readonly nonZero = { cpu: 0, memory: 0 }
}

export class NodeState {
  private readonly load: Load
  readonly allocatable: Needs
  readonly labels: Readonly<Record<string, string>>
  readonly name: string

  /**
   * @param length UTF-16 units of the node
   * @param terms the affinity terms of all pods on nodes
   * @param before the node before it changed, whose pods this one takes over
   */
  constructor(
    readonly node: Node,
    readonly length = 0,
    private readonly terms?: RunningTerms,
    before?: NodeState,
  ) {
    this.load = before?.load ?? new Load()
    this.name = node.metadata.name ?? ''
    this.labels = node.metadata.labels ?? {}
    this.allocatable = new Map(
      Object.entries(node.status?.allocatable ?? {}).map(([name, text]) => [
        name,
        amountOf(name, Quantity.tryParse(text) ?? Quantity.zero),
      ]),
    )
  }

  get pods(): Map<string, PodInfo> {
    return this.load.pods
  }

  /** Waiting pods whose nominated node this is. */
  get nominated(): Map<string, PodInfo> {
    return this.load.nominated
  }

  get requested(): Map<string, number> {
    return this.load.requested
  }

  get nonZero(): { readonly cpu: number; readonly memory: number } {
    return this.load.nonZero
  }

  add(pod: PodInfo): void {
    if (this.pods.has(pod.uid)) return
    this.pods.set(pod.uid, pod)
    this.terms?.count(pod, this.name, 1)
    this.count(pod, 1)
  }

  remove(pod: PodInfo): void {
    if (!this.pods.delete(pod.uid)) return
    this.terms?.count(pod, this.name, -1)
    this.count(pod, -1)
  }

  /** @param count runs only if the node's pods changed since its last result */
  countOf(selector: string, count: () => number): number {
    const { counts } = this.load
    const known = counts.get(selector)
    if (known !== undefined) return known
    if (counts.size >= MOST_COUNTS) counts.clear()
    const counted = count()
    counts.set(selector, counted)
    return counted
  }

  private count(pod: PodInfo, by: 1 | -1): void {
    const { counts, requested, nonZero, ports } = this.load
    counts.clear()
    for (const [name, wanted] of pod.needs) requested.set(name, (requested.get(name) ?? 0) + by * wanted)
    nonZero.cpu += by * pod.nonZero.cpu
    nonZero.memory += by * pod.nonZero.memory
    ports.count(pod.ports, by)
  }

  free(name: string): number {
    return (this.allocatable.get(name) ?? 0) - (this.requested.get(name) ?? 0)
  }

  isPortTaken(wanted: string): boolean {
    return this.load.ports.isTaken(wanted)
  }
}
