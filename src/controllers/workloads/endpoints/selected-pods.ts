/**
 * Queues the Services that select changed pods. Key: the namespace and the labels of the pods in JSON, so that one
 * reconciliation serves all pods of an owner; or only the namespace, for all of its Services. The key `nodes` means
 * changed nodes, which concern Services that distribute their endpoints by zones.
 */
import { ownValue } from '../../../base/own.ts'
import { clientsetFor } from '../../client/clientset.ts'
import type { Controller, ControllerContext } from '../../controller.ts'
import { NODES_OF_ZONES } from '../../../registry/core/nodes/node-work.ts'
import { podsOfKey } from '../key.ts'
import { SERVICES } from './endpoint-slice.ts'
import { selectsPods } from './service-endpoints.ts'
import { asksForTopology } from './slice-hints.ts'

export const selectedPods: Controller = {
  async reconcile(key, context) {
    if (key === NODES_OF_ZONES) return sharedByZones(context)
    const { namespace, labels } = podsOfKey(key)
    const services = clientsetFor(context, 'endpointslice-controller').resource(SERVICES, namespace)
    for await (const service of services.each()) {
      if (!selectsPods(service)) continue
      const selector = Object.entries(service.spec?.selector ?? {})
      if (labels !== undefined && !selector.every(([name, value]) => ownValue(labels, name) === value)) continue
      const work = `${namespace}/${service.metadata.name}`
      context.later('endpoint-slice', work, 0)
      context.later('endpoints', work, 0)
    }
    return undefined
  },
}

async function sharedByZones(context: ControllerContext): Promise<undefined> {
  for await (const service of clientsetFor(context, 'endpointslice-controller').resource(SERVICES).each())
    if (selectsPods(service) && asksForTopology(service))
      context.later('endpoint-slice', `${service.metadata.namespace}/${service.metadata.name}`, 0)
}
