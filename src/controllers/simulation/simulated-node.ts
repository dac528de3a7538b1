/**
 * The kubelets of simulated nodes: those with the label kedge.dev/simulated=true. A node's conditions and lease are
 * current by definition, so nothing is written while nothing happens. Keys: the node.
 */
import { leastOf } from '../../api/extremes.ts'
import type { Node, NodeStatus, Pod } from '../../api/core/v1.ts'
import { cloneJson } from '../../api/clone-json.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../api/own.ts'
import { StatusError } from '../../api/status.ts'
import { SIMULATED } from '../../registry/workload-work.ts'
import { settingsOf } from '../../settings.ts'
import { timeText } from '../../schema/time.ts'
import type { Clientset } from '../clientset.ts'
import { clientsetFor, typedResource } from '../clientset.ts'
import type { Controller } from '../controller.ts'
import { inTurns } from '../in-turns.ts'
import { PODS } from '../workloads/pod-control.ts'
import { addressesOf, freePodRange, nodeAddress } from './addresses.ts'
import { advance } from './pod-lifecycle.ts'

export const NODES = typedResource<Node>('', 'nodes')
const COMPONENT = 'simulated-kubelet'
const NOT_READY = 'node.kubernetes.io/not-ready'
const VERSION = 'v1.36.3'

export const isSimulated = (node: KubeObject | undefined): boolean =>
  node !== undefined && ownValue(node.metadata.labels, SIMULATED) === 'true'

/** What a node without a status gets: a range for its pods, capacity, addresses, conditions. */
export const simulatedNode: Controller = {
  async reconcile(name, context) {
    const nodes = clientsetFor(context, COMPONENT).resource(NODES)
    const node = await nodes.get(name)
    if (node === undefined || !isSimulated(node) || node.metadata.deletionTimestamp !== undefined) return undefined
    let known = node
    if (node.spec?.podCIDR === undefined) {
      const range = await context.alone('pod-ranges', async () => freePodRange(await nodes.list()))
      if (range !== undefined)
        known = await nodes.updateWithRetries(name, (object) => {
          const spec = (object.spec ??= {})
          spec.podCIDR ??= range
          spec.podCIDRs ??= [spec.podCIDR]
        })
    }
    if (known.status?.conditions?.some(({ type }) => type === 'Ready') !== true)
      await nodes.updateStatusWithRetries(name, (object) => {
        const { capacity, allocatable } = object.status ?? {}
        object.status = {
          ...object.status,
          ...statusOf(known, context.now()),
          // what somebody said of its size holds
          ...(capacity === undefined ? {} : { capacity, allocatable: allocatable ?? capacity }),
        }
      })
    if (known.spec?.taints?.some(({ key }) => key === NOT_READY) === true)
      await nodes.updateWithRetries(name, ({ spec = {} }) => {
        spec.taints = (spec.taints ?? []).filter(({ key }) => key !== NOT_READY)
      })
    context.later('simulated-pods', name, 0)
    return undefined
  },
}

/** What a kubelet says of a node when it registers. */
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
      { type: 'InternalIP', address: nodeAddress(node.spec?.podCIDR) },
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

/** All pods of a simulated node go on as far as they can now. */
export const simulatedPods: Controller = {
  async reconcile(name, context) {
    const clients = clientsetFor(context, COMPONENT)
    const node = await clients.resource(NODES).get(name)
    if (node === undefined || !isSimulated(node)) return undefined
    const pods = await clients.resource(PODS).list({ fieldSelector: `spec.nodeName=${name}` })
    const taken = new Set(pods.flatMap(({ status }) => status?.podIP ?? []))
    const allocateIP = addressesOf(node.spec?.podCIDR, taken)
    const hostIP = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? ''
    const { isMissing } = settingsOf(context.env).missingImages
    const waits: number[] = []
    await inTurns(pods, async (pod) => {
      const { status, isGone, after } = advance(pod, { hostIP, allocateIP, isMissing }, context.now())
      if (after !== undefined) waits.push(after)
      if (isGone === true) await remove(clients, pod)
      else if (status !== undefined) await write(clients, pod, status)
    })
    return waits.length === 0 ? undefined : leastOf(waits)
  },
}

/** Somebody else was faster: that write is work for this controller again. */
async function write(clients: Clientset, pod: Pod, status: Pod['status']): Promise<void> {
  const pods = clients.resource(PODS, pod.metadata.namespace)
  await pods.updateStatus({ ...cloneJson(pod), ...(status === undefined ? {} : { status }) }).catch(ignoreOvertaken)
}

async function remove(clients: Clientset, { metadata }: Pod): Promise<void> {
  const { namespace, name = '', uid = '' } = metadata
  const pods = clients.resource(PODS, namespace)
  await pods.delete(name, { gracePeriodSeconds: 0, preconditions: { uid } }).catch(ignoreOvertaken)
}

function ignoreOvertaken(error: unknown): void {
  if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error
}
