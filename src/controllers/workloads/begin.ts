/**
 * Looks at everything when workloads are switched on, since nothing of what was written before is work for anybody.
 * Its key says nothing.
 */
import type { KubeObject } from '../../api/object.ts'
import { settingsOf } from '../../settings.ts'
import { WORKLOAD_RESOURCES, workloadWork } from '../../registry/workload-work.ts'
import { clientsetFor, typedResource } from '../clientset.ts'
import type { Controller } from '../controller.ts'
import { turnOfOthers } from '../../api/slices.ts'

/** Objects that are read between two turns of others. */
const TOGETHER = 100

export const beginWorkloads: Controller = {
  async reconcile(_, context) {
    const { workloads } = settingsOf(context.env)
    const clients = clientsetFor(context, 'workloads')
    let seen = 0
    for (const resource of WORKLOAD_RESOURCES) {
      const client = await clients.ifServed(typedResource<KubeObject>(resource.group, resource.resource))
      for await (const object of client?.each() ?? []) {
        for (const { topic, payload } of workloadWork({ resource, object }, workloads)) context.later(topic, payload, 0)
        if (++seen % TOGETHER === 0) await turnOfOthers()
      }
    }
    return undefined
  },
}
