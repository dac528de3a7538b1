/**
 * The usage of simulated containers, in the form of metrics.k8s.io/v1beta1. Each request computes it from the pod;
 * nothing is measured or kept.
 */
import type { Container, Node, Pod } from '../../api/core/v1.ts'
import { apiVersionOf } from '../../api/group-version.ts'
import type { ObjectMeta } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { METRICS } from '../../registry/metrics/usage-resources.ts'
import { Quantity } from '../../schema/quantity.ts'
import { timeText } from '../../schema/time.ts'
import { Script } from './annotations.ts'
import { SIMULATED_ID } from './replacement.ts'

const API_VERSION = apiVersionOf(METRICS)

/** The seconds over which values are averages, like metrics-server's --metric-resolution. */
export const WINDOW_SECONDS = 15

/** The usage of a container without requests. */
const LITTLE = { cpu: Quantity.parse('1m'), memory: Quantity.parse('8Mi') }
/** Without an annotation a container uses its request divided by this number. */
const SHARE = 2n

/** Amounts as the text of quantities. */
export interface Usage {
  readonly cpu: string
  readonly memory: string
}

export interface ContainerMetrics {
  readonly name: string
  readonly usage: Usage
}

export interface PodMetrics {
  readonly kind: 'PodMetrics'
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  /** RFC 3339. */
  readonly timestamp: string
  /** A duration as Go writes it. */
  readonly window: string
  readonly containers: readonly ContainerMetrics[]
}

export interface NodeMetrics extends Omit<PodMetrics, 'kind' | 'containers'> {
  readonly kind: 'NodeMetrics'
  readonly usage: Usage
}

/** The usage of those containers of a pod that run on a simulated node. */
export function containerUsage(pod: Pod): ContainerMetrics[] {
  if (pod.status?.phase !== 'Running') return []
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status
  const running = [...containerStatuses, ...initContainerStatuses].filter(
    ({ state, containerID }) => state?.running !== undefined && containerID?.startsWith(SIMULATED_ID) === true,
  )
  const specs = new Map(
    [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].map((spec) => [spec.name, spec]),
  )
  const script = new Script(pod)
  return running.map(({ name = '' }) => ({ name, usage: usageOf(script, name, specs.get(name)) }))
}

function usageOf(script: Script, name: string, container: Container | undefined): Usage {
  const requested = (resource: 'cpu' | 'memory') => {
    const text = ownValue(container?.resources?.requests, resource)
    return text === undefined ? undefined : Quantity.parse(text)
  }
  const cpu = requested('cpu')
  const memory = requested('memory')
  const usage = {
    cpu: script.usage('cpu', name) ?? (cpu === undefined ? LITTLE.cpu : Quantity.ofMilli(cpu.scaledValue(-3) / SHARE)),
    memory:
      script.usage('memory', name) ??
      (memory === undefined ? LITTLE.memory : Quantity.of(memory.scaledValue(0) / SHARE, 'BinarySI')),
  }
  return textOf(usage)
}

interface Amounts {
  readonly cpu: Quantity
  readonly memory: Quantity
}

const textOf = ({ cpu, memory }: Amounts): Usage => ({
  cpu: cpu.toString(),
  memory: memory.toString(),
})

/** Undefined if no container of the pod runs on a simulated node. */
export function podMetrics(pod: Pod, now: Date): PodMetrics | undefined {
  const containers = containerUsage(pod)
  if (containers.length === 0) return undefined
  return { kind: 'PodMetrics', ...measured(pod, now), containers }
}

/** The total usage of a node's pods. It keeps no data of single pods. */
export class NodeUsage {
  private cpu = Quantity.zero
  private memory = Quantity.zero

  constructor(private readonly node: Node) {}

  /** @param pod a pod of the node */
  add(pod: Pod): void {
    for (const { usage } of containerUsage(pod)) {
      this.cpu = this.cpu.add(Quantity.parse(usage.cpu))
      this.memory = this.memory.add(Quantity.parse(usage.memory))
    }
  }

  metrics(now: Date): NodeMetrics {
    return { kind: 'NodeMetrics', ...measured(this.node, now), usage: textOf({ cpu: this.cpu, memory: this.memory }) }
  }
}

function measured({ metadata }: Pod | Node, now: Date) {
  const { name = '', namespace, labels } = metadata
  const timestamp = timeText(now)
  return {
    apiVersion: API_VERSION,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      creationTimestamp: timestamp,
      ...(labels === undefined ? {} : { labels }),
    },
    timestamp,
    window: `${WINDOW_SECONDS}s`,
  }
}
