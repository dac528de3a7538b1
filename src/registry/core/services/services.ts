import { labelName } from '../../../validation/names.ts'
import { append } from '../../../base/append.ts'
import type { Service, ServiceSpec } from '../../../api/core/v1.ts'
import { goQuote } from '../../../go/quote.ts'
import { path } from '../../../api/field.ts'
import { cidrWarnings, ipWarnings } from '../../../api/ip-addresses.ts'
import { withoutAdmission } from '../../write/admission.ts'
import { removeIfThere } from '../../write/remove-if-there.ts'
import { servicePrinter } from '../../../codec/table/core.ts'
import { defaultService } from './service-defaults.ts'
import { defaultRule } from '../../../schema/default-rules.ts'
import type { BuiltInDefinition } from '../../built-in-definition.ts'
import { allocateForService, releaseService } from './service-allocation.ts'
import {
  isBalanced,
  isExternalName,
  isReachableFromOutside,
  needsHealthCheck,
  NO_CLUSTER_IP,
  specOf,
  TOPOLOGY_HINTS,
  TOPOLOGY_MODE,
  validateLoadBalancerStatus,
  validateService,
  validateServiceUpdate,
} from './service-validation.ts'
import { serviceEvaluator } from '../../quota/services.ts'
import { serviceWork } from './service-work.ts'

const spec = path('spec')
const endpoints = { group: '', version: 'v1', resource: 'endpoints' }

export const services: BuiltInDefinition<Service> = {
  defaults: { v1: defaultRule<Service>(defaultService) },
  endpoints: { proxy: 'service-proxy' },
  printer: servicePrinter,
  workloadWork: serviceWork,
  quota: serviceEvaluator,
  serverObjects: ['default/kubernetes'],
  nameRule: labelName,
  allowCreateOnUpdate: true,
  storagePrefix: 'services/specs',
  allocate: allocateForService,
  decorator: { mark: '"type":"ExternalName"', decorate: withoutInternalPolicy },
  prepareForCreate(service) {
    service.status = {}
  },
  prepareForUpdate(service, old) {
    dropOfOldType(specOf(service), specOf(old))
    if (!isBalanced(specOf(service))) service.status = { ...service.status, loadBalancer: {} }
  },
  validate: (service) => validateService(service),
  validateUpdate: validateServiceUpdate,
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  selectableFields: ({ spec: { clusterIP = '', type = '' } = {} }) => ({
    'spec.clusterIP': clusterIP,
    'spec.type': type,
  }),
  async afterDelete(service, context) {
    const { namespace, name = '' } = service.metadata
    await removeIfThere(context.beside(endpoints, namespace), name, withoutAdmission)
    await releaseService(service, context)
  },
  subresources: {
    status: {
      validateUpdate: (service, old) =>
        validateLoadBalancerStatus(service.status?.loadBalancer ?? {}, old.status?.loadBalancer, specOf(service).type),
      warningsOnUpdate: ({ status }) =>
        (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }, index) =>
          ip ? ipWarnings(path('status', 'loadBalancer', 'ingress').index(index), ip) : [],
        ),
    },
  },
}

/**
 * Removes fields that only the old type allows. A field that the write changes stays, so that validation refuses it.
 */
function dropOfOldType(now: ServiceSpec, before: ServiceSpec): void {
  if (!isExternalName(before) && isExternalName(now)) {
    if ((now.clusterIP ?? '') === (before.clusterIP ?? '') && same(now.clusterIPs, before.clusterIPs)) {
      delete now.clusterIP
      delete now.clusterIPs
    }
    if (same(now.ipFamilies, before.ipFamilies)) delete now.ipFamilies
    if (now.ipFamilyPolicy === before.ipFamilyPolicy) delete now.ipFamilyPolicy
  }
  if (mayHaveNodePorts(before) && !mayHaveNodePorts(now)) {
    const known = new Set((before.ports ?? []).map(({ nodePort }) => nodePort))
    const ports = now.ports ?? []
    if (ports.every(({ nodePort }) => !nodePort || known.has(nodePort))) for (const port of ports) delete port.nodePort
  }
  if (needsHealthCheck(before) && !needsHealthCheck(now) && now.healthCheckNodePort === before.healthCheckNodePort)
    delete now.healthCheckNodePort
  if (isBalanced(before) && !isBalanced(now)) {
    if (now.allocateLoadBalancerNodePorts === before.allocateLoadBalancerNodePorts)
      delete now.allocateLoadBalancerNodePorts
    if (now.loadBalancerClass === before.loadBalancerClass) delete now.loadBalancerClass
  }
  const isSamePolicy = now.externalTrafficPolicy === before.externalTrafficPolicy
  if (isReachableFromOutside(before) && !isReachableFromOutside(now) && isSamePolicy) delete now.externalTrafficPolicy
}

/**
 * Reads of an ExternalName Service do not return internalTrafficPolicy. Storage keeps the field for a later change of
 * the type.
 */
function withoutInternalPolicy(service: Service): Service {
  if (!isExternalName(specOf(service))) return service
  const { internalTrafficPolicy: _, ...rest } = specOf(service)
  return { ...service, spec: rest }
}

const mayHaveNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer'

const same = (a: readonly string[] = [], b: readonly string[] = []): boolean => JSON.stringify(a) === JSON.stringify(b)

function warnings(service: Service): string[] {
  const now = specOf(service)
  const { clusterIP, clusterIPs = [], externalIPs = [], type, loadBalancerIP, trafficDistribution } = now
  const texts: string[] = []
  if (Object.hasOwn(service.metadata.annotations ?? {}, TOPOLOGY_HINTS))
    texts.push(`annotation ${TOPOLOGY_HINTS} is deprecated, please use ${TOPOLOGY_MODE} instead`)
  if (clusterIP && clusterIP !== NO_CLUSTER_IP)
    clusterIPs.forEach((ip, index) => append(texts, ipWarnings(spec.child('clusterIPs').index(index), ip)))
  const isHeadless = type === 'ClusterIP' && clusterIP === NO_CLUSTER_IP
  if (isHeadless) {
    if (loadBalancerIP) texts.push('spec.loadBalancerIP is ignored for headless services')
    if (externalIPs.length > 0) texts.push('spec.externalIPs is ignored for headless services')
    if (now.sessionAffinity !== 'None') texts.push('spec.SessionAffinity is ignored for headless services')
  }
  externalIPs.forEach((ip, index) => append(texts, ipWarnings(spec.child('externalIPs').index(index), ip)))
  if (externalIPs.length > 0 && !isHeadless && !isExternalName(now))
    texts.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters')
  if (loadBalancerIP) append(texts, ipWarnings(spec.child('loadBalancerIP'), loadBalancerIP))
  ;(now.loadBalancerSourceRanges ?? []).forEach((range, index) =>
    append(texts, cidrWarnings(spec.child('loadBalancerSourceRanges').index(index), range)),
  )
  if (isExternalName(now) && externalIPs.length > 0)
    texts.push('spec.externalIPs is ignored when spec.type is "ExternalName"')
  if (!isExternalName(now) && now.externalName)
    texts.push('spec.externalName is ignored when spec.type is not "ExternalName"')
  if (trafficDistribution === 'PreferClose')
    texts.push(`spec.trafficDistribution: ${goQuote('PreferClose')} is deprecated; use "PreferSameZone"`)
  return texts
}
