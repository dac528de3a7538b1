/** Keeps the EndpointSlices of Services (kube-controller-manager's endpointslice controller). Key: NAMESPACE/NAME. */
import type { Node, Pod, Service } from '../../../api/core/v1.ts'
import type { EndpointSlice } from '../../../api/discovery/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import { eachPart, kept } from '../../../base/parts.ts'
import { StatusError } from '../../../api/status.ts'
import type { Clientset } from '../../client/clientset.ts'
import { clientsetFor, typedResource } from '../../client/clientset.ts'
import type { Controller } from '../../controller.ts'
import { filtered, PLANNED, planned } from '../../work/in-turns.ts'
import { deleteIfThere } from '../../work/unless-gone.ts'
import type { Named } from './change-time.ts'
import { changeTime, withChangeTime } from './change-time.ts'
import { EventRecorder } from '../events/events.ts'
import { keyParts } from '../key.ts'
import { PODS } from '../pods/pod-control.ts'
import type { AddressType } from './service-endpoints.ts'
import { addressTypes, endpointOf, endpointPorts, hasEndpoint, selectsPods } from './service-endpoints.ts'
import { asksForTopology } from './slice-hints.ts'
import type { Group } from './slice-plan.ts'
import { MANAGED_BY, MANAGER, planSlices, SERVICE_NAME, SLICE_PLANNED } from './slice-plan.ts'
import { planForClients } from './slice-topology.ts'

export const SERVICES = typedResource<Service>('', 'services')
const SLICES = typedResource<KubeObject & EndpointSlice>('discovery.k8s.io', 'endpointslices')
const NODES = typedResource<Node>('', 'nodes')
const COMPONENT = 'endpointslice-controller'

export const endpointSliceController: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, COMPONENT)
    const service = await clients.resource(SERVICES, namespace).get(name)
    if (service === undefined || !selectsPods(service)) return undefined
    const labelSelector = Object.entries(service.spec?.selector ?? {})
      .map(([label, value]) => `${label}=${value}`)
      .join()
    const selected = await clients.resource(PODS, namespace).list({ labelSelector, shared: true })
    const pods = await filtered(selected, (pod) => hasEndpoint(pod, true))
    const nodes =
      pods.length > 0 || asksForTopology(service) ? await clients.resource(NODES).list({ shared: true }) : []
    const nodesByName = await planned(nodes, () => byName(nodes))
    const slices = clients.resource(SLICES, namespace)
    const known = await slices.list({ labelSelector: `${SERVICE_NAME}=${name},${MANAGED_BY}=${MANAGER}` })
    const existing = known.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    const types = addressTypes(service)
    const asked = { tenant: clients.tenant, component: COMPONENT, service, pods: selected }
    const time = await planned(selected, () => changeTime(asked, existing.length === 0 ? undefined : namedBy(existing)))
    const events = new EventRecorder(clients, 'endpoint-slice-controller', context.now)
    // slices of an address family that the Service no longer has
    for (const slice of existing) if (!types.some((type) => type === slice.addressType)) await remove(clients, slice)
    for (const type of types) {
      // few: there are two types
      const ofType = existing.filter(({ addressType }) => addressType === type)
      const made = await planned(selected, () =>
        planSlices(service, type, groupsOf(service, pods, nodesByName, type), ofType),
      )
      const { plan, news } = await planned(selected, () =>
        planForClients(clients.tenant, service, type, { plan: made, existing: ofType, nodes }),
      )
      for (const slice of service.metadata.deletionTimestamp === undefined ? plan.create : [])
        await slices.create(withTime(slice, time)).catch(ignoreEnding)
      for (const slice of plan.update) await slices.update(withTime(slice, time))
      for (const slice of plan.remove) await remove(clients, slice)
      if (news !== undefined) await events.record(service, news)
    }
    return undefined
  },
}

function byName(nodes: readonly Node[]): ReadonlyMap<string, Node> {
  const named = kept(nodes, () => new Map<string, Node>())
  eachPart(nodes, (node) => void named.set(node.metadata.name ?? '', node), PLANNED)
  return named
}

/** Groups pods by the numbers of their named ports. A pod whose node is missing waits for the node. */
function groupsOf(
  service: Service,
  pods: readonly Pod[],
  nodes: ReadonlyMap<string, Node>,
  type: AddressType,
): readonly Group[] {
  const groups = kept(pods, () => new Map<string, { ports: Group['ports']; endpoints: Group['endpoints'][number][] }>())
  const add = (pod: Pod): void => {
    const node = nodes.get(pod.spec?.nodeName ?? '')
    if (node === undefined && service.spec?.publishNotReadyAddresses !== true) return
    const ports = endpointPorts(service, pod)
    const key = JSON.stringify(ports)
    const group = groups.get(key) ?? { ports, endpoints: [] }
    groups.set(key, group)
    const endpoint = endpointOf(service, pod, node, type)
    if (endpoint !== undefined) group.endpoints.push(endpoint)
  }
  eachPart(pods, add, PLANNED)
  return kept(pods, () => [...groups.values()])
}

function namedBy(slices: readonly EndpointSlice[]): Named {
  const named = kept(slices, () => new Map<string, boolean | undefined>())
  const add = ({ endpoints = [] }: EndpointSlice): void => {
    for (const { targetRef, conditions } of endpoints) named.set(targetRef?.uid ?? '', conditions?.serving)
  }
  eachPart(slices, add, SLICE_PLANNED)
  return named
}

const withTime = (slice: EndpointSlice, time: string | undefined): KubeObject & EndpointSlice => ({
  ...slice,
  metadata: { ...slice.metadata, annotations: withChangeTime(slice.metadata.annotations, time) },
})

async function remove(clients: Clientset, slice: EndpointSlice): Promise<void> {
  await deleteIfThere(clients.resource(SLICES, slice.metadata.namespace), slice)
}

function ignoreEnding(error: unknown): void {
  const causes = error instanceof StatusError ? (error.status.details?.causes ?? []) : []
  if (!causes.some(({ reason }) => reason === 'NamespaceTerminating')) throw error
}
