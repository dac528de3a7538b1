/** Validates the spec of a pod or a template. The errors are in kube-apiserver's order. */
import { append } from '../../base/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, forbiddenField, invalidValue, notSupported, path, required, tooLong } from '../../api/field.ts'
import type { ObjectMeta } from '../../api/meta/v1.ts'
import { legacyIpErrors } from '../../api/ip-addresses.ts'
import {
  inRange,
  MAX_INT32,
  problems,
  validateLabelText,
  validateQualifiedName,
  validateSubdomain,
} from '../field-rules.ts'
import { dns1123Subdomain, regexText } from '../names.ts'
import { byteLength } from '../../base/utf8.ts'
import { validateLabels } from '../object-meta.ts'
import { validateContainers, validateEphemeralContainers, validateInitContainers } from './containers.ts'
import { validateFileVolumes } from './env.ts'
import { internalJson } from './internal-json.ts'
import { validatePodResources, validateResources } from './resources.ts'
import type { PodRules } from './rules.ts'
import { validateAffinity, validateSpread, validateTolerations } from './scheduling.ts'
import { validateHostProcess, validateOs, validatePodSecurityContext } from './security-context.ts'
import { visitContainers } from './visit-containers.ts'
import { validateVolumes } from './volumes.ts'
import { errorsOf } from '../errors-of.ts'
import { kept } from '../../base/parts.ts'

export const MIRROR_POD = 'kubernetes.io/config.mirror'

/** @param meta of the pod; undefined for the spec of a template */
export function validatePodSpec(
  at: FieldPath,
  spec: CoreV1.PodSpec,
  meta: ObjectMeta | undefined,
  rules: PodRules,
): FieldError[] {
  const { found: volumes, errors: volumeErrors } = validateVolumes(at.child('volumes'), spec.volumes ?? [], meta, rules)
  const claims = spec.resourceClaims ?? []
  const context = {
    spec,
    volumes,
    claimNames: new Set(claims.map(({ name = '' }) => name).filter((name) => name !== '')),
    hostUsers: spec.hostUsers !== false,
    rules,
  }
  return [
    ...(spec.terminationGracePeriodSeconds === undefined ? [required(at.child('terminationGracePeriodSeconds'))] : []),
    ...volumeErrors,
    ...validateResourceClaims(at.child('resourceClaims'), claims, meta),
    ...validateContainers(at.child('containers'), spec.containers ?? [], context),
    ...validateInitContainers(at.child('initContainers'), spec.initContainers ?? [], context),
    ...validateEphemeralContainers(at.child('ephemeralContainers'), spec.ephemeralContainers ?? [], context),
    ...(rules.enabled('PodLevelResources')
      ? validatePodResources(at.child('resources'), spec, context.claimNames, rules)
      : []),
    ...validateHostNetworkPorts(at.child('containers'), spec, rules),
    ...requiredOneOf(at.child('restartPolicy'), spec.restartPolicy, ['Always', 'OnFailure', 'Never']),
    ...requiredOneOf(at.child('dnsPolicy'), spec.dnsPolicy, [
      'ClusterFirstWithHostNet',
      'ClusterFirst',
      'Default',
      'None',
    ]),
    ...validateLabels(spec.nodeSelector ?? {}, at.child('nodeSelector')),
    ...validatePodSecurityContext(at.child('securityContext'), spec.securityContext, spec, rules),
    ...validateAffinity(at.child('affinity'), spec.affinity, rules),
    ...validateDns(at.child('dnsConfig'), spec, rules),
    ...errorsOf(spec.readinessGates ?? [], ({ conditionType = '' }, index) =>
      validateQualifiedName(at.child('readinessGates').index(index).child('conditionType'), conditionType),
    ),
    ...validateSchedulingGates(at.child('schedulingGates'), spec.schedulingGates ?? []),
    ...validateSpread(at.child('topologySpreadConstraints'), spec.topologySpreadConstraints ?? [], rules),
    ...validateHostProcess(at, spec),
    ...validateHostUsers(at, spec, rules),
    ...validateHostnameOverride(at.child('hostnameOverride'), spec),
    ...optionalName(at.child('serviceAccountName'), spec.serviceAccountName),
    ...optionalName(at.child('nodeName'), spec.nodeName),
    ...(spec.activeDeadlineSeconds === undefined
      ? []
      : inRange(at.child('activeDeadlineSeconds'), spec.activeDeadlineSeconds, 1, MAX_INT32)),
    ...(spec.hostname ? validateLabelText(at.child('hostname'), spec.hostname) : []),
    ...(spec.subdomain ? validateLabelText(at.child('subdomain'), spec.subdomain) : []),
    ...validateTolerations(at.child('tolerations'), spec.tolerations ?? [], rules),
    ...validateHostAliases(at.child('hostAliases'), spec.hostAliases ?? []),
    ...optionalName(at.child('priorityClassName'), spec.priorityClassName),
    ...(spec.runtimeClassName === undefined
      ? []
      : problems(at.child('runtimeClassName'), spec.runtimeClassName, dns1123Subdomain(spec.runtimeClassName))),
    ...(spec.preemptionPolicy === undefined
      ? []
      : requiredOneOf(at.child('preemptionPolicy'), spec.preemptionPolicy, ['PreemptLowerPriority', 'Never'])),
    ...(spec.overhead === undefined
      ? []
      : validateResources(at.child('overhead'), { limits: spec.overhead }, new Set(), rules)),
    ...validateOs(at, spec),
    ...validateSchedulingGroup(at.child('schedulingGroup', 'podGroupName'), spec.schedulingGroup),
    ...errorsOf(visitContainers(spec, at), ({ container, at: here }) =>
      validateFileVolumes(here.child('env'), container.env ?? [], spec.volumes ?? []),
    ),
  ]
}

const optionalName = (at: FieldPath, name: string | undefined): FieldError[] =>
  name ? problems(at, name, dns1123Subdomain(name)) : []

export const requiredOneOf = (at: FieldPath, value = '', known: readonly string[]): FieldError[] =>
  value === '' ? [required(at)] : known.includes(value) ? [] : [notSupported(at, value, known)]

function validateResourceClaims(
  at: FieldPath,
  claims: readonly CoreV1.PodResourceClaim[],
  meta: ObjectMeta | undefined,
): FieldError[] {
  const names = kept(claims, () => new Set<string>())
  return errorsOf(claims, (claim, index) => {
    if (meta?.annotations?.[MIRROR_POD] !== undefined)
      return [forbiddenField(path('').key(''), 'static pods do not support resource claims')]
    const here = at.index(index)
    const { name = '', resourceClaimName, resourceClaimTemplateName } = claim
    const errors: FieldError[] = []
    if (name === '') errors.push(required(here.child('name')))
    else if (names.has(name)) errors.push(duplicate(here.child('name'), name))
    else {
      append(errors, validateLabelText(here.child('name'), name))
      names.add(name)
    }
    const shown = internalJson('io.k8s.api.core.v1.PodResourceClaim', claim)
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined)
      errors.push(
        invalidValue(here, shown, 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'),
      )
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined)
      errors.push(invalidValue(here, shown, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'))
    if (resourceClaimName !== undefined)
      append(errors, validateSubdomain(here.child('resourceClaimName'), resourceClaimName))
    if (resourceClaimTemplateName !== undefined)
      append(errors, validateSubdomain(here.child('resourceClaimTemplateName'), resourceClaimTemplateName))
    return errors
  })
}

/** With hostNetwork, hostPort must equal containerPort. A template may leave hostPort out. */
function validateHostNetworkPorts(at: FieldPath, spec: CoreV1.PodSpec, rules: PodRules): FieldError[] {
  if (!spec.hostNetwork) return []
  return errorsOf(spec.containers ?? [], ({ ports = [] }, index) =>
    errorsOf(ports, ({ hostPort = 0, containerPort = 0 }, position) =>
      (rules.isPod || hostPort !== 0) && hostPort !== containerPort
        ? [
            invalidValue(
              at.index(index).child('ports').index(position).child('hostPort'),
              hostPort,
              'must match `containerPort` when `hostNetwork` is true',
            ),
          ]
        : [],
    ),
  )
}

const MAX_NAMESERVERS = 3
const MAX_SEARCHES = 32
const MAX_SEARCH_CHARACTERS = 2048

function validateDns(at: FieldPath, spec: CoreV1.PodSpec, rules: PodRules): FieldError[] {
  const { dnsPolicy, dnsConfig } = spec
  if (dnsPolicy === 'None') {
    if (dnsConfig === undefined) return [required(at, 'must provide `dnsConfig` when `dnsPolicy` is None')]
    if ((dnsConfig.nameservers ?? []).length === 0)
      return [required(at.child('nameservers'), 'must provide at least one DNS nameserver when `dnsPolicy` is None')]
  }
  if (dnsConfig === undefined) return []
  const { nameservers = [], searches = [], options = [] } = dnsConfig
  const errors: FieldError[] = []
  if (nameservers.length > MAX_NAMESERVERS)
    errors.push(
      invalidValue(at.child('nameservers'), nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`),
    )
  append(
    errors,
    errorsOf(nameservers, (address, index) => legacyIpErrors(at.child('nameservers').index(index), address)),
  )
  if (searches.length > MAX_SEARCHES)
    errors.push(invalidValue(at.child('searches'), searches, `must not have more than ${MAX_SEARCHES} search paths`))
  if (byteLength(searches.join(' ')) > MAX_SEARCH_CHARACTERS)
    errors.push(
      invalidValue(
        at.child('searches'),
        searches,
        `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`,
      ),
    )
  const relaxed = rules.enabled('RelaxedDNSSearchValidation')
  const ofSearches = errorsOf(searches, (search, index) => {
    if (relaxed && search === '.') return []
    const domain = search.replace(/\.$/, '')
    const texts = relaxed ? underscoreDomainProblems(domain) : dns1123Subdomain(domain)
    return problems(at.child('searches').index(index), domain, texts)
  })
  append(errors, ofSearches)
  append(
    errors,
    errorsOf(options, ({ name }, index) =>
      !name ? [required(at.child('options').index(index), 'must not be empty')] : [],
    ),
  )
  return errors
}

function underscoreDomainProblems(value: string): string[] {
  const label = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
  const pattern = `${label}(\\.${label})*`
  const text =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character"
  return [
    ...(byteLength(value) > 253 ? ['must be no more than 253 characters'] : []),
    ...(new RegExp(`^${pattern}$`).test(value) ? [] : [regexText(text, pattern, 'example.com')]),
  ]
}

function validateSchedulingGates(at: FieldPath, gates: readonly CoreV1.PodSchedulingGate[]): FieldError[] {
  const seen = kept(gates, () => new Set<string>())
  return errorsOf(gates, ({ name = '' }, index) => {
    const errors = validateQualifiedName(at.index(index), name)
    if (seen.has(name)) errors.push(duplicate(at.index(index), name))
    seen.add(name)
    return errors
  })
}

const NOT_WITH_OWN_USERS = 'when `hostUsers` is false'

function validateHostUsers(at: FieldPath, spec: CoreV1.PodSpec, rules: PodRules): FieldError[] {
  if (spec.hostUsers !== false) return []
  const errors: FieldError[] = []
  if (spec.hostNetwork && !rules.enabled('UserNamespacesHostNetworkSupport'))
    errors.push(forbiddenField(at.child('hostNetwork'), NOT_WITH_OWN_USERS))
  if (spec.hostPID) errors.push(forbiddenField(at.child('HostPID'), NOT_WITH_OWN_USERS))
  if (spec.hostIPC) errors.push(forbiddenField(at.child('HostIPC'), NOT_WITH_OWN_USERS))
  append(
    errors,
    errorsOf(visitContainers(spec, at), ({ container, at: here }) =>
      (container.volumeDevices ?? []).length > 0
        ? [forbiddenField(here.child('volumeDevices'), NOT_WITH_OWN_USERS)]
        : [],
    ),
  )
  return errors
}

function validateHostnameOverride(at: FieldPath, spec: CoreV1.PodSpec): FieldError[] {
  const { hostnameOverride: name, setHostnameAsFQDN, hostNetwork } = spec
  if (name === undefined) return []
  return [
    ...(setHostnameAsFQDN ? [forbiddenField(at, 'may not be specified when setHostnameAsFQDN is true')] : []),
    ...(hostNetwork ? [forbiddenField(at, 'may not be specified when hostNetwork is true')] : []),
    ...(byteLength(name) > 64 ? [tooLong(at, 64)] : []),
    ...validateSubdomain(at, name),
  ]
}

const validateHostAliases = (at: FieldPath, aliases: readonly CoreV1.HostAlias[]): FieldError[] =>
  errorsOf(aliases, ({ ip = '', hostnames = [] }, index) => [
    ...legacyIpErrors(at.index(index).child('ip'), ip),
    ...errorsOf(hostnames, (name, position) =>
      validateSubdomain(at.index(index).child('hostnames').index(position), name),
    ),
  ])

function validateSchedulingGroup(at: FieldPath, group: CoreV1.PodSchedulingGroup | undefined): FieldError[] {
  if (group === undefined) return []
  const { podGroupName } = group
  if (podGroupName === undefined) return [invalidValue(at, null, 'must specify one of: `podGroupName`')]
  return validateSubdomain(at, podGroupName)
}
