/** Publishes the devices of a simulated node as a ResourceSlice. The node owns it, so it is deleted with the node. */
import type { Node } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import type { Device, ResourceSlice } from '../../api/resource/v1.ts'
import { SIMULATED_DRIVER } from '../../registry/resource/simulated-driver.ts'
import type { Clientset } from '../client/clientset.ts'
import { typedResource } from '../client/clientset.ts'
import type { ControllerContext } from '../controller.ts'
import { deleteIfThere } from '../work/unless-gone.ts'
import { EventRecorder } from '../workloads/events/events.ts'
import { sameJson } from '../workloads/same-json.ts'
import { NoDeviceList, parseDevices } from './device-list.ts'

type Slice = ResourceSlice & KubeObject

const SLICES = typedResource<Slice>('resource.k8s.io', 'resourceslices')
const DEVICES = 'kedge.dev/devices'
const COMPONENT = 'simulated-kubelet'
/** The most characters of an object's name. */
const LONGEST_NAME = 253

/** @param isSimulated false removes the slice of a node that is no longer simulated */
export async function publishDevices(
  node: Node,
  isSimulated: boolean,
  clients: Clientset,
  context: ControllerContext,
): Promise<void> {
  const text = isSimulated ? ownValue(node.metadata.annotations, DEVICES) : undefined
  const slices = clients.resource(SLICES)
  const known = await slices.get(sliceName(node))
  const devices = text === undefined ? [] : await listed(node, text, clients, context)
  if (devices === undefined) return
  if (known === undefined) {
    if (devices.length > 0) await slices.create(sliceOf(node, devices))
  } else if (devices.length === 0) await deleteIfThere(slices, known)
  else if (!sameJson(known.spec?.devices ?? [], devices)) {
    const { generation = 1 } = known.spec?.pool ?? {}
    await slices.update({ ...known, spec: { ...sliceOf(node, devices, Number(generation) + 1).spec } })
  }
}

/** Undefined if the list cannot be parsed. Then an Event reports it, and the published devices stay. */
async function listed(
  node: Node,
  text: string,
  clients: Clientset,
  context: ControllerContext,
): Promise<Device[] | undefined> {
  try {
    return parseDevices(text)
  } catch (error) {
    if (!(error instanceof NoDeviceList)) throw error
    const events = new EventRecorder(clients, COMPONENT, () => context.now())
    await events.warnOnce(node, 'InvalidDevices', `annotation ${DEVICES}: ${error.message}`)
    return undefined
  }
}

function sliceName({ metadata: { name = '', uid } }: Node): string {
  const whole = `${name}-${SIMULATED_DRIVER}`
  return whole.length <= LONGEST_NAME ? whole : `${uid}-${SIMULATED_DRIVER}`
}

function sliceOf(node: Node, devices: Device[], generation = 1): Slice {
  const { name = '', uid = '' } = node.metadata
  return {
    kind: 'ResourceSlice',
    apiVersion: 'resource.k8s.io/v1',
    metadata: {
      name: sliceName(node),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid, controller: true }],
    },
    spec: {
      driver: SIMULATED_DRIVER,
      nodeName: name,
      pool: { name, generation, resourceSliceCount: 1 },
      devices,
    },
  }
}
