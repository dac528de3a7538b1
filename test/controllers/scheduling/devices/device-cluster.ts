/** A control plane in memory with two simulated nodes, and the devices that tests add to them. */
import type { KubeObject } from '../../../../src/api/object.ts'
import type { DeviceClass, ResourceSlice } from '../../../../src/api/resource/v1.ts'
import type { Clientset } from '../../../../src/controllers/client/clientset.ts'
import { clientsetFor, typedResource } from '../../../../src/controllers/client/clientset.ts'
import type { Env } from '../../../../src/env.ts'
import { NODES } from '../../../../src/controllers/simulation/simulated-node.ts'
import { ControlPlaneInMemory } from '../../control-plane.ts'

export const SLICES = typedResource<ResourceSlice & KubeObject>('resource.k8s.io', 'resourceslices')
export const CLASSES = typedResource<DeviceClass & KubeObject>('resource.k8s.io', 'deviceclasses')

export class DeviceCluster {
  private constructor(
    readonly plane: ControlPlaneInMemory,
    readonly clients: Clientset,
  ) {}

  /** With the nodes `node-1` and `node-2`. */
  static async start(settings: Partial<Env> = {}): Promise<DeviceCluster> {
    const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated', ...settings })
    const cluster = new DeviceCluster(plane, clientsetFor(await plane.context(), 'somebody'))
    await cluster.addNode('node-1')
    await cluster.addNode('node-2')
    return cluster
  }

  async addNode(name: string): Promise<void> {
    const labels = { 'kedge.dev/simulated': 'true' }
    await this.clients.resource(NODES).create({ kind: 'Node', apiVersion: 'v1', metadata: { name, labels } })
    await this.plane.settle()
  }

  /** The class `gpus`, which has all devices. */
  async addClass(spec: DeviceClass['spec'] = {}): Promise<void> {
    const kind = { kind: 'DeviceClass', apiVersion: 'resource.k8s.io/v1' }
    await this.clients.resource(CLASSES).create({ ...kind, metadata: { name: 'gpus' }, spec })
    await this.plane.settle()
  }

  async addDevices(nodeName: string, ...names: readonly string[]): Promise<void> {
    await this.clients.resource(SLICES).create({
      kind: 'ResourceSlice',
      apiVersion: 'resource.k8s.io/v1',
      metadata: { name: nodeName },
      spec: {
        driver: 'gpu.example',
        nodeName,
        pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
        devices: names.map((name) => ({ name })),
      },
    })
    await this.plane.settle()
  }
}
