/**
 * Nodes that Kedge simulates. Nothing listens on their addresses and on those of their pods. In the network of this
 * machine, somebody else may have them: 10.244.0.0/16 is a usual range of clusters.
 */
import type { Node } from '../api/core/v1.ts'
import type { KubeObject } from '../api/object.ts'
import { isSimulated } from '../api/simulated-node.ts'
import type { ControlPlane } from '../tenancy/control-snapshot.ts'
import { storedObject } from '../tenancy/stored-object.ts'
import { switchesOf } from '../tenancy/workload-switches.ts'

type Plane = Pick<ControlPlane, 'env' | 'tenant'>

/** Whether Kedge simulates it now. */
export const isSimulatedHere = (plane: Plane, node: KubeObject): boolean =>
  switchesOf(plane).workloads === 'simulated' && isSimulated(node)

export async function isOnSimulatedNode(plane: Plane, nodeName: string | undefined): Promise<boolean> {
  if (!nodeName || switchesOf(plane).workloads !== 'simulated') return false
  const node = await storedObject<Node>(plane, { group: '', resource: 'nodes' }, nodeName)
  return node !== undefined && isSimulatedHere(plane, node)
}

/** As of a host where nothing listens. */
export const refusalAt = (address: string): string => `dial tcp ${address}: connect: connection refused`
