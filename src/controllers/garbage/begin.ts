/**
 * Switches garbage collection. While it is off the collector drops its work, so it looks at all objects when it is on
 * again.
 */
import { groupResourceText } from '../../api/group-version.ts'
import type { GroupResource } from '../../api/group-version.ts'
import { groupResourceNamed } from '../../storage/collections.ts'
import { objectKeyText } from '../../registry/work/collector-work.ts'
import { awaitsCollector, ownerKindsOf } from '../../registry/work/owner-kinds.ts'
import { writtenEntries } from '../../registry/served/written-types.ts'
import { freshControlSnapshot } from '../../tenancy/control-snapshot.ts'
import { switchesOf } from '../../tenancy/workload-switches.ts'
import { managerClients } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'

/** Objects that are read in one turn. */
const TOGETHER = 100

export const isCollecting = (context: Pick<ControllerContext, 'env' | 'tenant'>): boolean =>
  switchesOf(context).controllers.collectsGarbage

/** The controller, which drops its work while garbage collection is off. */
export const ofCollector = (controller: Controller): Controller => ({
  ...controller,
  reconcile: async (key, context) => (isCollecting(context) ? controller.reconcile(key, context) : undefined),
})

/**
 * Queues all objects that wait for the collector, and all that name owners. Key: `things.example.com`; or empty, for all
 * types, each of which is work of its own.
 */
export const beginCollection: Controller = ofCollector({
  neverGivesUp: true,
  queue: 'garbage',
  async reconcile(key, context) {
    if (key !== '') return beginWith(groupResourceNamed(key), context)
    const entries = writtenEntries(context.env, context.tenant, await freshControlSnapshot(context))
    for (const { storage } of entries) context.later('collection-begin', groupResourceText(storage), 0)
    return undefined
  },
})

async function beginWith(type: GroupResource, context: ControllerContext): Promise<undefined> {
  const client = await managerClients(context).ifServed(type)
  let seen = 0
  for await (const object of client?.each() ?? []) {
    const key = objectKeyText(type, object)
    const owners = ownerKindsOf(object)
    // the collector dropped the work that tells it so for a kind that came meanwhile
    if (owners.length > 0) context.addDependents(type, owners)
    if (awaitsCollector(object)) context.later('waiting', key, 0)
    if (owners.length > 0) context.later('dependent', key, 0)
    if (++seen % TOGETHER === 0) await context.budget.turn()
  }
}
