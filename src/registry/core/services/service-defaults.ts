import { eachPart } from '../../../base/parts.ts'
import type { Service } from '../../../api/core/v1.ts'

export function defaultService({ spec, status }: Service): void {
  const service = spec!
  service.sessionAffinity ||= 'None'
  if (service.sessionAffinity === 'None') delete service.sessionAffinityConfig
  if (service.sessionAffinity === 'ClientIP' && service.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined)
    service.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10800 } }
  service.type ||= 'ClusterIP'
  eachPart(service.ports ?? [], (port) => {
    port.protocol ||= 'TCP'
    port.targetPort ||= port.port ?? 0
  })
  const isBalanced = service.type === 'LoadBalancer'
  const isExternal = isBalanced || service.type === 'NodePort'
  if (isExternal || (service.type === 'ClusterIP' && (service.externalIPs ?? []).length > 0))
    service.externalTrafficPolicy ||= 'Cluster'
  if (isExternal || service.type === 'ClusterIP') service.internalTrafficPolicy ??= 'Cluster'
  if (!isBalanced) return
  service.allocateLoadBalancerNodePorts ??= true
  eachPart(status?.loadBalancer?.ingress ?? [], (ingress) => {
    if (ingress.ip) ingress.ipMode ??= 'VIP'
  })
}
