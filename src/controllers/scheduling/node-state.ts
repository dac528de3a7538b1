/** A node as the scheduler sees it: what it has, what its pods ask for, and who they are. */
import type { Node, Pod } from '../../api/core/v1.ts'
import { podAmounts } from '../../registry/quota/pod-resources.ts'
import { Quantity } from '../../schema/quantity.ts'

/** By resource: thousandths of a core for cpu, whole units for everything else. */
export type Needs = ReadonlyMap<string, number>

const amount = (name: string, quantity: Quantity): number => (name === 'cpu' ? quantity.milliValue() : quantity.value())

export function needsOf(pod: Pod): Needs {
  return new Map([...podAmounts(pod, 'requests')].map(([name, quantity]) => [name, amount(name, quantity)]))
}

/** For scores a pod that asks for nothing counts as one that asks for a little. */
const LITTLE_CPU = 100
const LITTLE_MEMORY = 200 * 1024 * 1024

export function hostPorts({ spec }: Pod): string[] {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []).filter(isSidecar)]
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, hostIP, protocol = 'TCP' }) =>
      hostPort === 0 ? [] : [`${hostIP || ANY} ${protocol} ${hostPort}`],
    ),
  )
}

const ANY = '0.0.0.0'
const isSidecar = ({ restartPolicy }: { readonly restartPolicy?: string }): boolean => restartPolicy === 'Always'

/** One address and all of them are in each other's way. */
export function portConflict(wanted: string, taken: ReadonlySet<string>): boolean {
  const [address, ...port] = wanted.split(' ')
  const rest = port.join(' ')
  if (address !== ANY) return taken.has(wanted) || taken.has(`${ANY} ${rest}`)
  for (const one of taken) if (one.endsWith(` ${rest}`)) return true
  return false
}

export class NodeState {
  readonly pods: Pod[] = []
  readonly ports = new Set<string>()
  readonly requested = new Map<string, number>()
  /** Of cpu and memory, with a little for who asks for nothing. */
  readonly weighed = { cpu: 0, memory: 0 }
  readonly allocatable: Needs

  constructor(readonly node: Node) {
    this.allocatable = new Map(
      Object.entries(node.status?.allocatable ?? {}).map(([name, text]) => [
        name,
        amount(name, Quantity.tryParse(text) ?? Quantity.zero),
      ]),
    )
  }

  get name(): string {
    return this.node.metadata.name ?? ''
  }

  add(pod: Pod, needs = needsOf(pod)): void {
    this.pods.push(pod)
    for (const [name, wanted] of needs) this.requested.set(name, (this.requested.get(name) ?? 0) + wanted)
    this.weighed.cpu += needs.get('cpu') || LITTLE_CPU
    this.weighed.memory += needs.get('memory') || LITTLE_MEMORY
    for (const port of hostPorts(pod)) this.ports.add(port)
  }

  free(name: string): number {
    return (this.allocatable.get(name) ?? 0) - (this.requested.get(name) ?? 0)
  }
}
