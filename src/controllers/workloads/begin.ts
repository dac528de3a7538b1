/**
 * Queues all objects when workloads are switched on, because earlier writes made no work. Key: the Lease whose holder
 * has left, for the work that only the holder did; or empty, for all work.
 */
import type { KubeObject } from '../../api/object.ts'
import { LEADER_LEASES } from '../../registry/work/workload-controllers.ts'
import { switchesOf } from '../../tenancy/workload-switches.ts'
import { definitions } from '../../registry/definitions.ts'
import { workloadWork } from '../../registry/work/outbox.ts'
import { clientsetFor, typedResource } from '../client/clientset.ts'
import type { Controller } from '../controller.ts'
import { observeLease } from '../leader/leader-lease.ts'
import { isOfLease } from '../leader/leadership.ts'

/** Objects that are read in one turn. */
const TOGETHER = 100

export const beginWorkloads: Controller = {
  async reconcile(lease, context) {
    const switches = switchesOf(context)
    // first, so that this server does not interfere with a program that already leads
    for (const name of LEADER_LEASES) {
      const left = await observeLease(name, context)
      if (left !== undefined) context.later('leader-lease', name, left)
    }
    const clients = clientsetFor(context, 'workloads')
    let seen = 0
    for (const { resource, definition } of definitions()) {
      if (definition.workloadWork === undefined) continue
      const client = await clients.ifServed(typedResource<KubeObject>(resource.group, resource.resource))
      for await (const object of client?.each() ?? []) {
        for (const { topic, payload } of workloadWork(
          definition,
          { resource, object, now: context.now().getTime() },
          switches,
        ))
          if (lease === '' || isOfLease(topic, lease)) context.later(topic, payload, 0)
        if (++seen % TOGETHER === 0) await context.budget.turn()
      }
    }
    return undefined
  },
}
