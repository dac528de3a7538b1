/**
 * Simulated nodes: nodes with the label kedge.dev/simulated=true. Their conditions and Leases count as current, so
 * nothing is written while nothing happens. Key: the node.
 */
import type { Node, NodeStatus } from '../../api/core/v1.ts'
import { ownValue } from '../../base/own.ts'
import { isSimulated, KUBELET_MANAGER } from '../../api/simulated-node.ts'
import { timeText } from '../../schema/time.ts'
import { settingsOf } from '../../settings.ts'
import { isExtended } from '../../validation/pod/resources.ts'
import { managerClients, typedResource } from '../client/clientset.ts'
import type { Controller } from '../controller.ts'
import { freePodRanges, nodeAddresses } from './addresses.ts'
import { renewNodeLease } from './node-lease.ts'
import { publishDevices } from './simulated-devices.ts'

export const NODES = typedResource<Node>('', 'nodes')
export const COMPONENT = 'simulated-kubelet'
const NOT_READY = 'node.kubernetes.io/not-ready'
const VERSION = 'v1.36.3'

/** Sets the defaults of a node without a status: a range for its pods, capacity, addresses, conditions. */
export const simulatedNode: Controller = {
  async reconcile(name, context) {
    const clients = managerClients(context, KUBELET_MANAGER)
    const nodes = clients.resource(NODES)
    const node = await nodes.get(name)
    if (node === undefined || node.metadata.deletionTimestamp !== undefined) return undefined
    await publishDevices(node, isSimulated(node), clients, context)
    if (!isSimulated(node)) return undefined
    let known = node
    if (node.spec?.podCIDR === undefined) {
      const families = settingsOf(context.env).serviceRanges.map(({ address }) => address.family)
      const ranges = await context.alone('pod-ranges', async () =>
        freePodRanges(await nodes.list({ shared: true }), families),
      )
      const [range] = ranges
      if (range !== undefined)
        known = await nodes.updateWithRetries(node, (object) => {
          const spec = (object.spec ??= {})
          if (spec.podCIDR !== undefined) return
          spec.podCIDR = range
          spec.podCIDRs = ranges
        })
    }
    if (known.status?.conditions?.some(({ type }) => type === 'Ready') !== true)
      await nodes.updateStatusWithRetries(node, (object) => {
        const { capacity, allocatable } = object.status ?? {}
        object.status = {
          ...object.status,
          ...statusOf(known, context.now()),
          // a capacity that a client set stays
          ...(capacity === undefined ? {} : { capacity, allocatable: allocatable ?? capacity }),
        }
      })
    if (allocatableOf(known) !== undefined)
      await nodes.updateStatusWithRetries(node, (object) => {
        const allocatable = allocatableOf(object)
        if (allocatable !== undefined) object.status = { ...object.status, allocatable }
      })
    if (known.spec?.taints?.some(({ key }) => key === NOT_READY) === true)
      await nodes.updateWithRetries(node, ({ spec = {} }) => {
        spec.taints = (spec.taints ?? []).filter(({ key }) => key !== NOT_READY)
      })
    context.later('simulated-pods', '', 0)
    return renewNodeLease(known, clients, context)
  },
}

/**
 * The allocatable amounts with the extended resources of the capacity, which a client may advertise there. Undefined
 * where they have these already. A kubelet does so with each update of its status.
 */
function allocatableOf({ status = {} }: Node): Amounts | undefined {
  const { capacity = {}, allocatable = {} } = status
  const wanted = extendedIn(capacity)
  const isSame =
    extendedIn(allocatable).length === wanted.length &&
    wanted.every(([name, amount]) => ownValue(allocatable, name) === amount)
  if (isSame) return undefined
  return Object.fromEntries([...Object.entries(allocatable).filter(([name]) => !isExtended(name)), ...wanted])
}

type Amounts = Readonly<Record<string, string>>

const extendedIn = (amounts: Amounts) => Object.entries(amounts).filter(([name]) => isExtended(name))

/** The status that a kubelet registers. */
export function statusOf(node: Node, now: Date): NodeStatus {
  const capacity = { cpu: '8', memory: '32Gi', 'ephemeral-storage': '100Gi', pods: '110' }
  const time = timeText(now)
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
    reason,
    message,
  })
  return {
    capacity,
    allocatable: { ...capacity },
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
      condition('Ready', 'True', 'KubeletReady', 'the kubelet is simulated'),
    ],
    addresses: [
      ...nodeAddresses(node).map((address) => ({ type: 'InternalIP', address })),
      { type: 'Hostname', address: node.metadata.name ?? '' },
    ],
    nodeInfo: {
      machineID: '',
      systemUUID: node.metadata.uid ?? '',
      bootID: '',
      kernelVersion: 'simulated',
      osImage: 'simulated',
      containerRuntimeVersion: 'simulated://1',
      kubeletVersion: VERSION,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  }
}
