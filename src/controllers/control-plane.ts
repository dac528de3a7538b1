/**
 * Applies the spec of a control plane: makes its simulated nodes, and has everything looked at, since nothing of what was
 * written while its controllers were off is work for anybody. A request that began before the change writes by the old
 * switches, so everything is looked at once more when such requests have ended.
 * Key: nothing, or `settled` for the second time.
 */
import type { KubeObject } from '../api/object.ts'
import { StatusError } from '../api/status.ts'
import { simulatedNode } from '../registry/core/simulated-node.ts'
import { lastSnapshot } from '../tenancy/control-snapshot.ts'
import { controlPlaneSpec, switchesOf } from '../tenancy/workload-switches.ts'
import { serverClients } from './clientset.ts'
import type { Controller, ControllerContext } from './controller.ts'

const SETTLED = 'settled'
/** Longer than the webhooks of a write are waited for. */
const SETTLED_MS = 120_000
const EXISTS = 409

export const controlPlaneController: Controller = {
  async reconcile(key, context) {
    // the one that this isolate has may be older than the change
    await context.freshServed()
    if (switchesOf(context).workloads === 'off') return undefined
    await createNodes(controlPlaneSpec(lastSnapshot(context.tenant))?.nodes ?? 0, context)
    context.later('workloads-begin', '', 0)
    if (key !== SETTLED) context.later('control-plane', SETTLED, SETTLED_MS)
    return undefined
  },
}

/** Those that are there stay as they are, also beyond the number. */
async function createNodes(count: number, context: ControllerContext): Promise<void> {
  const nodes = serverClients(context, 'kedge-start').resource<KubeObject>({ group: '', resource: 'nodes' })
  for (let index = 1; index <= count; index++)
    await nodes.create(simulatedNode(index)).catch((error: unknown) => {
      if (!(error instanceof StatusError) || error.code !== EXISTS) throw error
    })
}
