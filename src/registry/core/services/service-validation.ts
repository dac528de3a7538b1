/** Validates a Service (kubernetes' pkg/apis/core/validation, ValidateService…). */
import { append } from '../../../base/append.ts'
import type { LoadBalancerStatus, Service, ServiceSpec, SessionAffinityConfig } from '../../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../../api/field.ts'
import { duplicate, forbiddenField, invalidValue, notSupported, path, required } from '../../../api/field.ts'
import { repeatsInParts } from '../../../base/lookup.ts'
import {
  validateLabelText,
  validatePort,
  validateQualifiedName,
  validateSubdomain,
} from '../../../validation/field-rules.ts'
import { endpointIpErrors, familyOf, legacyCidrErrors, legacyIpErrors, parseIp } from '../../../api/ip-addresses.ts'
import { validateLabels } from '../../../validation/object-meta.ts'
import { errorsOf } from '../../../validation/errors-of.ts'
import { kept } from '../../../base/parts.ts'

export const NO_CLUSTER_IP = 'None'
const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges'
export const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints'
export const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode'
const MAX_AFFINITY_SECONDS = 86400
const SET_ONCE = 'may not change once set'
const ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'"

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const affinities = ['ClientIP', 'None']
const families = ['IPv4', 'IPv6']
const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
const protocols = ['SCTP', 'TCP', 'UDP']
export const trafficPolicies = ['Cluster', 'Local']
const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode']

const spec = path('spec')

export const specOf = (service: Service): ServiceSpec => service.spec ?? {}
export const isHeadless = ({ clusterIPs = [] }: ServiceSpec): boolean =>
  clusterIPs.length === 1 && clusterIPs[0] === NO_CLUSTER_IP
export const isBalanced = ({ type }: ServiceSpec): boolean => type === 'LoadBalancer'
export const isExternalName = ({ type }: ServiceSpec): boolean => type === 'ExternalName'
export const isReachableFromOutside = ({ type, externalIPs = [] }: ServiceSpec): boolean =>
  type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && externalIPs.length > 0)
export const needsHealthCheck = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local'

/** @param old the stored Service of an update, which may keep its values */
export function validateService(service: Service, old?: Service): FieldError[] {
  const now = specOf(service)
  return [
    ...topologyErrors(service),
    ...typeErrors(now),
    ...portErrors(now),
    ...validateLabels(now.selector ?? {}, spec.child('selector')),
    ...affinityErrors(now),
    ...clusterIpErrors(now, old && specOf(old)),
    ...externalIpErrors(now, old && specOf(old)),
    ...(now.type
      ? types.includes(now.type)
        ? []
        : [notSupported(spec.child('type'), now.type, types)]
      : [required(spec.child('type'))]),
    ...nodePortErrors(now),
    ...repeatedPortErrors(now),
    ...sourceRangeErrors(service, old),
    ...balancerErrors(now),
    ...trafficErrors(now),
  ]
}

export function validateServiceUpdate(service: Service, old: Service): FieldError[] {
  const now = specOf(service)
  const before = specOf(old)
  const classChanged = isBalanced(before) && isBalanced(now) && before.loadBalancerClass !== now.loadBalancerClass
  const portChanged =
    needsHealthCheck(before) && needsHealthCheck(now) && before.healthCheckNodePort !== now.healthCheckNodePort
  return [
    ...clusterIpChangeErrors(now, before),
    ...familyChangeErrors(now, before),
    ...(classChanged ? [invalidValue(spec.child('loadBalancerClass'), now.loadBalancerClass, SET_ONCE)] : []),
    ...balancerClassErrors(now),
    ...(portChanged ? [forbiddenField(spec.child('healthCheckNodePort'), 'field is immutable')] : []),
    ...validateService(service, old),
  ]
}

function topologyErrors({ metadata }: Service): FieldError[] {
  const { [TOPOLOGY_HINTS]: hints, [TOPOLOGY_MODE]: mode } = metadata.annotations ?? {}
  if (hints === undefined || mode === undefined || hints === mode) return []
  const at = path('metadata', 'annotations').key(TOPOLOGY_MODE)
  return [invalidValue(at, mode, `must match annotations[${TOPOLOGY_HINTS}] when both are specified`)]
}

function typeErrors(now: ServiceSpec): FieldError[] {
  const errors: FieldError[] = []
  if ((now.ports ?? []).length === 0 && !isHeadless(now) && !isExternalName(now))
    errors.push(required(spec.child('ports')))
  if ((now.type === 'LoadBalancer' || now.type === 'NodePort') && isHeadless(now))
    errors.push(
      invalidValue(
        spec.child('clusterIPs').index(0),
        NO_CLUSTER_IP,
        `may not be set to 'None' for ${now.type} services`,
      ),
    )
  if (!isExternalName(now)) return errors
  const notForNames = 'may not be set for ExternalName services'
  if ((now.clusterIPs ?? []).length > 0) errors.push(forbiddenField(spec.child('clusterIPs'), notForNames))
  if ((now.ipFamilies ?? []).length > 0) errors.push(forbiddenField(spec.child('ipFamilies'), notForNames))
  if (now.ipFamilyPolicy !== undefined) errors.push(forbiddenField(spec.child('ipFamilyPolicy'), notForNames))
  const name = (now.externalName ?? '').replace(/\.$/, '')
  append(errors, name ? validateSubdomain(spec.child('externalName'), name) : [required(spec.child('externalName'))])
  return errors
}

function portErrors({ ports = [] }: ServiceSpec): FieldError[] {
  const names = kept(ports, () => new Set<string>())
  return errorsOf(ports, (port, index) => {
    const at = spec.child('ports').index(index)
    const errors = portNameErrors(port.name ?? '', ports.length > 1, names, at.child('name'))
    append(errors, validatePort(at.child('port'), port.port ?? 0))
    if (!port.protocol) errors.push(required(at.child('protocol')))
    else if (!protocols.includes(port.protocol))
      errors.push(notSupported(at.child('protocol'), port.protocol, protocols))
    append(errors, validatePort(at.child('targetPort'), port.targetPort ?? 0))
    if (port.appProtocol !== undefined) append(errors, validateQualifiedName(at.child('appProtocol'), port.appProtocol))
    return errors
  })
}

function portNameErrors(name: string, isRequired: boolean, names: Set<string>, at: FieldPath): FieldError[] {
  if (name === '') return isRequired ? [required(at)] : []
  const errors = validateLabelText(at, name)
  if (names.has(name)) errors.push(duplicate(at, name))
  names.add(name)
  return errors
}

function affinityErrors({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): FieldError[] {
  const at = spec.child('sessionAffinity')
  const configAt = spec.child('sessionAffinityConfig')
  if (!sessionAffinity) return [required(at)]
  if (!affinities.includes(sessionAffinity)) return [notSupported(at, sessionAffinity, affinities)]
  if (sessionAffinity === 'ClientIP') return affinityConfigErrors(sessionAffinityConfig, configAt)
  return sessionAffinityConfig === undefined
    ? []
    : [forbiddenField(configAt, 'must not be set when session affinity is None')]
}

function affinityConfigErrors(config: SessionAffinityConfig | undefined, at: FieldPath): FieldError[] {
  const needed = 'when session affinity type is ClientIP'
  if (config === undefined) return [required(at, needed)]
  if (config.clientIP === undefined) return [required(at.child('clientIP'), needed)]
  const { timeoutSeconds } = config.clientIP
  const timeoutAt = at.child('clientIP', 'timeoutSeconds')
  if (timeoutSeconds === undefined) return [required(timeoutAt, needed)]
  return timeoutSeconds > 0 && timeoutSeconds <= MAX_AFFINITY_SECONDS
    ? []
    : [invalidValue(timeoutAt, timeoutSeconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`)]
}

/** Validates cluster IPs and families alone. The allocator calls it before it allocates. */
export function clusterIpErrors(now: ServiceSpec, old?: ServiceSpec): FieldError[] {
  if (isExternalName(now)) return []
  const { clusterIP, clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = now
  const at = spec.child('clusterIPs')
  const errors: FieldError[] = []
  if (clusterIP) {
    if (clusterIPs.length === 0) errors.push(required(at))
    else if (clusterIPs[0] !== clusterIP)
      errors.push(invalidValue(at, clusterIPs, 'first value must match `clusterIP`'))
  } else if (clusterIPs.length > 0)
    errors.push(invalidValue(at, clusterIPs, 'must be empty when `clusterIP` is not specified'))

  const repeats = repeatsInParts(ipFamilies)
  append(
    errors,
    errorsOf(ipFamilies, (family, index) => {
      const errors: FieldError[] = []
      const here = spec.child('ipFamilies').index(index)
      if (!families.includes(family)) errors.push(notSupported(here, family, families))
      if (repeats.has(index)) errors.push(duplicate(here, family))
      return errors
    }),
  )
  if (ipFamilyPolicy !== undefined && !familyPolicies.includes(ipFamilyPolicy))
    errors.push(notSupported(spec.child('ipFamilyPolicy'), ipFamilyPolicy, familyPolicies))

  const existing = kept(clusterIPs, () => new Set(old?.clusterIPs))
  const wrong = errorsOf(clusterIPs, (ip, index) => {
    if (index > 0 || ip !== NO_CLUSTER_IP) return legacyIpErrors(at.index(index), ip, existing)
    return clusterIPs.length > 1 ? [invalidValue(at, clusterIPs, "'None' must be the first and only value")] : []
  })
  append(errors, wrong)
  if (clusterIPs.length > 2) errors.push(invalidValue(at, clusterIPs, 'may only hold up to 2 values'))
  if (wrong.length > 0) return errors
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(familyOf)).size < 2)
    errors.push(invalidValue(at, clusterIPs, 'may specify no more than one IP for each IP family'))
  return [...errors, ...familyMismatches(now)]
}

function familyMismatches(now: ServiceSpec): FieldError[] {
  const { clusterIPs = [], ipFamilies = [] } = now
  if (isHeadless(now)) return []
  const paired = kept(clusterIPs, () => clusterIPs.slice(0, ipFamilies.length))
  return errorsOf(paired, (ip, index) => {
    const expected = ipFamilies[index]
    if (!families.includes(expected ?? '') || (familyOf(ip) ?? 'IPv4') === expected) return []
    const text = `expected an ${expected} value as indicated by \`ipFamilies[${index}]\``
    return [invalidValue(spec.child('clusterIPs').index(index), ip, text)]
  })
}

function externalIpErrors({ externalIPs = [] }: ServiceSpec, old: ServiceSpec | undefined): FieldError[] {
  const existing = new Set(old?.externalIPs)
  return errorsOf(externalIPs, (ip, index) => {
    const at = spec.child('externalIPs').index(index)
    const errors = legacyIpErrors(at, ip, existing)
    return errors.length > 0 ? errors : endpointIpErrors(ip, at)
  })
}

function nodePortErrors({ type, ports = [] }: ServiceSpec): FieldError[] {
  const at = (index: number) => spec.child('ports').index(index).child('nodePort')
  const seen = kept(ports, () => new Set<string>())
  return [
    ...errorsOf(ports, ({ nodePort }, index) =>
      type === 'ClusterIP' && nodePort ? [forbiddenField(at(index), "may not be used when `type` is 'ClusterIP'")] : [],
    ),
    ...errorsOf(ports, ({ nodePort, protocol }, index) => {
      if (!nodePort) return []
      const key = `${protocol} ${nodePort}`
      if (seen.has(key)) return [duplicate(at(index), nodePort)]
      seen.add(key)
      return []
    }),
  ]
}

function repeatedPortErrors({ ports = [] }: ServiceSpec): FieldError[] {
  const seen = kept(ports, () => new Set<string>())
  return errorsOf(ports, ({ port = 0, protocol = '' }, index) => {
    const key = `${protocol} ${port}`
    if (!seen.has(key)) {
      seen.add(key)
      return []
    }
    return [duplicate(spec.child('ports').index(index), portAsPrinted(protocol, port))]
  })
}

/** The key of a port, with the field names of kube-apiserver's internal type. */
const portAsPrinted = (Protocol: string, Port: number) => ({
  Name: '',
  Protocol,
  AppProtocol: null,
  Port,
  TargetPort: 0,
  NodePort: 0,
})

function sourceRangeErrors(service: Service, old: Service | undefined): FieldError[] {
  const now = specOf(service)
  const ranges = now.loadBalancerSourceRanges ?? []
  if (ranges.length > 0) {
    const at = spec.child('LoadBalancerSourceRanges')
    const existing = new Set((old?.spec?.loadBalancerSourceRanges ?? []).map((range) => range.trim()))
    return [
      ...(isBalanced(now) ? [] : [forbiddenField(at, ONLY_BALANCED)]),
      ...errorsOf(ranges, (range, index) => legacyCidrErrors(at.index(index), range.trim(), existing)),
    ]
  }
  const annotated = service.metadata.annotations?.[SOURCE_RANGES]
  if (annotated === undefined) return []
  const at = path('metadata', 'annotations').key(SOURCE_RANGES)
  const isSame = old?.metadata.annotations?.[SOURCE_RANGES] === annotated
  const texts = kept(service.metadata, () => (isSame || annotated.trim() === '' ? [] : annotated.trim().split(',')))
  return [
    ...(isBalanced(now) ? [] : [forbiddenField(at, ONLY_BALANCED)]),
    ...errorsOf(texts, (range) => legacyCidrErrors(at, range.trim())),
  ]
}

function balancerErrors(now: ServiceSpec): FieldError[] {
  const errors: FieldError[] = []
  const flag = now.allocateLoadBalancerNodePorts
  if (flag !== undefined && !isBalanced(now))
    errors.push(forbiddenField(spec.child('allocateLoadBalancerNodePorts'), ONLY_BALANCED))
  if (flag === undefined && isBalanced(now)) errors.push(required(path('allocateLoadBalancerNodePorts')))
  return [...errors, ...balancerClassErrors(now)]
}

function balancerClassErrors(now: ServiceSpec): FieldError[] {
  if (now.loadBalancerClass === undefined) return []
  const at = spec.child('loadBalancerClass')
  return isBalanced(now) ? validateQualifiedName(at, now.loadBalancerClass) : [forbiddenField(at, ONLY_BALANCED)]
}

function trafficErrors(now: ServiceSpec): FieldError[] {
  const errors: FieldError[] = []
  const { externalTrafficPolicy: external, internalTrafficPolicy: internal, trafficDistribution } = now
  const externalAt = spec.child('externalTrafficPolicy')
  if (!isReachableFromOutside(now)) {
    if (external) errors.push(invalidValue(externalAt, external, 'may only be set for externally-accessible services'))
  } else if (!external) errors.push(required(externalAt))
  else if (!trafficPolicies.includes(external)) errors.push(notSupported(externalAt, external, trafficPolicies))
  append(errors, healthPortErrors(now))
  const internalAt = spec.child('internalTrafficPolicy')
  if (internal === undefined) {
    if (types.includes(now.type ?? '') && !isExternalName(now)) errors.push(required(internalAt))
  } else if (!trafficPolicies.includes(internal)) errors.push(notSupported(internalAt, internal, trafficPolicies))
  if (trafficDistribution !== undefined && !distributions.includes(trafficDistribution))
    errors.push(notSupported(spec.child('trafficDistribution'), trafficDistribution, distributions))
  return errors
}

function healthPortErrors(now: ServiceSpec): FieldError[] {
  const at = spec.child('healthCheckNodePort')
  const port = now.healthCheckNodePort ?? 0
  if (needsHealthCheck(now)) return port === 0 ? [required(at)] : validatePort(at, port)
  const text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
  return port === 0 ? [] : [invalidValue(at, port, text)]
}

/** The first address is immutable. An update may add a second one, or remove it together with the dual-stack policy. */
function clusterIpChangeErrors(now: ServiceSpec, before: ServiceSpec): FieldError[] {
  if (isExternalName(now) || isExternalName(before) || (isHeadless(now) && isHeadless(before))) return []
  const at = spec.child('clusterIPs')
  const { clusterIPs: ips = [] } = now
  const { clusterIPs: old = [] } = before
  if (ips.length === old.length)
    return errorsOf(old, (ip, index) => (ip === ips[index] ? [] : [invalidValue(at.index(index), ips, SET_ONCE)]))
  const errors: FieldError[] = []
  if (ips.length === 0) errors.push(invalidValue(at.index(0), now.clusterIPs, 'primary clusterIP can not be unset'))
  if (old.length > 0 && ips.length > 0 && ips[0] !== old[0]) errors.push(invalidValue(at.index(0), ips, SET_ONCE))
  if (old.length > ips.length && ips.length === 1) append(errors, notSingle(now, 'clusterIP'))
  return errors
}

function familyChangeErrors(now: ServiceSpec, before: ServiceSpec): FieldError[] {
  if (isExternalName(now) || isExternalName(before) || isHeadless(now) || isHeadless(before)) return []
  const at = spec.child('ipFamilies').index(0)
  const { ipFamilies: list = [], clusterIPs } = now
  const { ipFamilies: old = [] } = before
  if (list.length === old.length)
    return errorsOf(old, (family, index) => (family === list[index] ? [] : [invalidValue(at, list, SET_ONCE)]))
  const errors: FieldError[] = []
  if (old.length > list.length && (clusterIPs ?? []).length === 0)
    errors.push(invalidValue(at, now.ipFamilies, 'primary ipFamily can not be unset'))
  // kube-apiserver prints the addresses here
  if (old.length > 0 && list.length > 0 && list[0] !== old[0]) errors.push(invalidValue(at, clusterIPs, SET_ONCE))
  if (old.length > list.length && list.length === 1) append(errors, notSingle(now, 'ipFamily'))
  return errors
}

const notSingle = ({ ipFamilyPolicy }: ServiceSpec, released: string): FieldError[] =>
  ipFamilyPolicy === 'SingleStack'
    ? []
    : [
        invalidValue(
          spec.child('ipFamilyPolicy'),
          ipFamilyPolicy,
          `must be set to 'SingleStack' when releasing the secondary ${released}`,
        ),
      ]

const ipModes = ['Proxy', 'VIP']

/** Validates the addresses of a load balancer, for Ingresses too, which have no ipMode. */
export function validateLoadBalancerStatus(
  status: LoadBalancerStatus,
  old: LoadBalancerStatus | undefined,
  type: string | undefined,
): FieldError[] {
  const at = path('status', 'loadBalancer', 'ingress')
  const { ingress = [] } = status
  if (type !== 'LoadBalancer' && ingress.length > 0)
    return [forbiddenField(at, "may only be used when `spec.type` is 'LoadBalancer'")]
  const existing = new Set((old?.ingress ?? []).flatMap(({ ip }) => (ip ? [ip] : [])))
  return errorsOf(ingress, ({ ip, ipMode, hostname }, index) => {
    const here = at.index(index)
    const errors = ip ? legacyIpErrors(here.child('ip'), ip, existing) : []
    const modeAt = here.child('ipMode')
    if (ipMode === undefined) {
      if (ip) errors.push(required(modeAt, 'must be specified when `ip` is set'))
    } else if (!ip) errors.push(forbiddenField(modeAt, 'may not be specified when `ip` is not set'))
    else if (!ipModes.includes(ipMode)) errors.push(notSupported(modeAt, ipMode, ipModes))
    return [...errors, ...hostnameErrors(hostname, here.child('hostname'))]
  })
}

export function hostnameErrors(hostname: string | undefined, at: FieldPath): FieldError[] {
  if (!hostname) return []
  const errors = validateSubdomain(at, hostname)
  if (parseIp(hostname) !== undefined) errors.push(invalidValue(at, hostname, 'must be a DNS name, not an IP address'))
  return errors
}
