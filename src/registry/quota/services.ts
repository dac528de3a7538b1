import type { Service } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { Quantity } from '../../schema/quantity.ts'
import { ONE } from './amounts.ts'
import type { Evaluator } from './evaluator.ts'

const names = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers']

export const serviceEvaluator: Evaluator = {
  // an update may change the type of a Service
  handles: ({ subresource }) => subresource === '',
  tracks: (name) => names.includes(name),
  usage(object) {
    // stored and admitted Services have the form of a Service
    const service = object as unknown as Service & KubeObject
    return new Map([
      ['count/services', ONE],
      ['services', ONE],
      ['services.loadbalancers', service.spec?.type === 'LoadBalancer' ? ONE : Quantity.zero],
      ['services.nodeports', Quantity.of(nodePorts(service))],
    ])
  },
}

/** Counts ports that have no node port yet, because the server allocates them after admission. */
function nodePorts({ spec: { type, ports = [], allocateLoadBalancerNodePorts } = {} }: Service): number {
  if (type === 'NodePort') return ports.length
  if (type !== 'LoadBalancer') return 0
  if (allocateLoadBalancerNodePorts !== false) return ports.length
  return ports.filter(({ nodePort = 0 }) => nodePort !== 0).length
}
