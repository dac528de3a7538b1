/**
 * Applies the spec of a control plane: makes its simulated nodes and their objects, and queues all objects, because
 * writes make no work while the controllers are off. A request that began before the change still writes by the old
 * switches, so the controller queues all objects again when such requests have ended. Key: empty, or `settled` for the
 * second time.
 */
import type { KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import type { ClusterAccess } from '../../registry/simulation/simulated-cluster.ts'
import { createSimulatedNodes, equipSimulatedNodes, STARTER } from '../../registry/simulation/simulated-cluster.ts'
import { lastSnapshot } from '../../tenancy/control-snapshot.ts'
import { controlPlaneSpec, switchesOf } from '../../tenancy/workload-switches.ts'
import { serverClients } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'

const SETTLED = 'settled'
/** Longer than a write can wait for its webhooks. */
const SETTLED_MS = 120_000
const EXISTS = 409

export const controlPlaneController: Controller = {
  async reconcile(key, context) {
    // the control snapshot of this isolate may be older than the change
    await context.freshServed()
    const { workloads, controllers } = switchesOf(context)
    if (controllers.collectsGarbage && key !== SETTLED) context.later('collection-begin', '', 0)
    if (workloads === 'off') return undefined
    // the second time leaves out objects that a user deleted meanwhile
    if (key !== SETTLED) {
      const access = accessOf(context)
      await createSimulatedNodes(access, controlPlaneSpec(lastSnapshot(context.tenant))?.nodes ?? 0)
      if (workloads === 'simulated') await equipSimulatedNodes(access)
      context.later('control-plane', SETTLED, SETTLED_MS)
    }
    context.later('workloads-begin', '', 0)
    return undefined
  },
}

function accessOf(context: ControllerContext): ClusterAccess {
  const clients = serverClients(context, STARTER)
  return {
    count: async (place, labelSelector = '') =>
      (await clients.resource(place).eachKept({ labelSelector }, () => 1)).length,
    create: async (place, object) => {
      // the results are whole objects
      await clients
        .resource(place)
        .create(object as KubeObject)
        .catch((error: unknown) => {
          if (!(error instanceof StatusError) || error.code !== EXISTS) throw error
        })
    },
  }
}
