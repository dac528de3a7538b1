/** The resources of a simulated node that admitted pods use. */
import { charactersOf } from '../../base/bounded-map.ts'
import type { Pod } from '../../api/core/v1.ts'
import { HostPorts } from '../scheduling/host-ports.ts'
import type { Needs } from '../scheduling/pod-info.ts'
import { hostPorts, needsOf } from '../scheduling/pod-info.ts'

export class PodUse {
  readonly uid: string | undefined
  private readonly generation: number | bigint | undefined
  readonly needs: Needs
  readonly ports: readonly string[]
  /** Characters. */
  readonly length: number
  readonly priority: number
  readonly qosClass: string

  constructor(pod: Pod) {
    this.uid = pod.metadata.uid
    this.generation = pod.metadata.generation
    this.needs = needsOf(pod)
    this.ports = hostPorts(pod)
    this.length = charactersOf([[...this.needs], this.ports])
    this.priority = pod.spec?.priority ?? 0
    this.qosClass = pod.status?.qosClass ?? 'BestEffort'
  }

  isOf({ metadata }: Pod): boolean {
    return metadata.uid === this.uid && metadata.generation === this.generation
  }
}

export class NodeUse {
  /** By NAMESPACE/NAME. */
  private readonly pods = new Map<string, PodUse>()
  private readonly requested = new Map<string, number>()
  private readonly ports = new HostPorts()

  get size(): number {
    return this.pods.size
  }

  used(resource: string): number {
    return this.requested.get(resource) ?? 0
  }

  /** By NAMESPACE/NAME. */
  entries(): IterableIterator<[string, PodUse]> {
    return this.pods.entries()
  }

  isPortTaken(port: string): boolean {
    return this.ports.isTaken(port)
  }

  put(key: string, use: PodUse): void {
    this.remove(key)
    this.pods.set(key, use)
    this.count(use, 1)
  }

  remove(key: string): void {
    const use = this.pods.get(key)
    if (use === undefined) return
    this.pods.delete(key)
    this.count(use, -1)
  }

  private count({ needs, ports }: PodUse, by: 1 | -1): void {
    for (const [name, amount] of needs) this.requested.set(name, this.used(name) + by * amount)
    this.ports.count(ports, by)
  }
}
