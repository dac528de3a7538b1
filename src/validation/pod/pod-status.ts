/** Validates the status that kubelets and schedulers report, and refuses changes that would revert final states. */
import { append } from '../../base/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, forbiddenField, invalidValue, notSupported, path, required, tooLong } from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import { Quantity } from '../../schema/quantity.ts'
import {
  immutableNamed,
  problems,
  validateId,
  validateLabelText,
  validateQualifiedName,
  validateSubdomain,
} from '../field-rules.ts'
import { familyOf, legacyIpErrors } from '../../api/ip-addresses.ts'
import { dns1123Subdomain } from '../names.ts'
import { byteLength } from '../../base/utf8.ts'
import { firstBy } from '../../base/lookup.ts'
import { internalJson } from './internal-json.ts'
import { validatePodAnnotationsUpdate } from './pod-annotations.ts'
import { isNative } from './resources.ts'
import type { PodRules } from './rules.ts'
import { errorsByName, errorsOf } from '../errors-of.ts'
import { kept } from '../../base/parts.ts'

const at = path('status')
const CORE = 'io.k8s.api.core.v1'
const NOT_NEGATIVE = 'must be a non-negative integer'
const listsOfStatuses = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const

export function validatePodStatusUpdate(pod: CoreV1.Pod, old: CoreV1.Pod, rules: PodRules): FieldError[] {
  const status = pod.status ?? {}
  const before = old.status ?? {}
  const spec = pod.spec ?? {}
  const errors = [
    ...validatePodAnnotationsUpdate(pod.metadata.annotations, old.metadata.annotations),
    ...validateConditions(at.child('conditions'), status.conditions ?? []),
  ]
  const { nominatedNodeName: nominated = '' } = status
  if (nominated !== '' && nominated !== (before.nominatedNodeName ?? '')) {
    const here = at.child('nominatedNodeName')
    append(errors, problems(here, nominated, dns1123Subdomain(nominated)))
    if (old.spec?.nodeName && rules.enabled('ClearingNominatedNodeNameAfterBinding'))
      errors.push(forbiddenField(here, 'may not be set on pods that are already bound to a node'))
  }
  if ((status.observedGeneration ?? 0) < 0)
    errors.push(invalidValue(at.child('observedGeneration'), status.observedGeneration, NOT_NEGATIVE))
  append(errors, [
    ...immutableNamed(at.child('qosClass'), status.qosClass ?? '', before.qosClass ?? ''),
    ...listsOfStatuses.flatMap((list) => validateTransitions(list, status[list], before[list], old.spec ?? {}, rules)),
    ...validateClaimStatuses(at.child('resourceClaimStatuses'), status.resourceClaimStatuses ?? [], spec),
    ...validateExtendedClaim(at.child('extendedResourceClaimStatus'), status.extendedResourceClaimStatus, spec),
    ...validateNodeAllocatable(at.child('nodeAllocatableResourceClaimStatuses'), status, spec),
    ...validateIps(at.child('podIPs'), status.podIPs ?? [], before.podIPs ?? [], 'PodIP'),
    ...validateHostIps(status, before),
    ...listsOfStatuses.flatMap((list) => validateUsers(at.child(list), status[list] ?? [], spec.os)),
    ...validateAllocated(at.child('containerStatuses'), status.containerStatuses ?? [], spec.containers ?? []),
    ...validateAllocated(
      at.child('initContainerStatuses'),
      status.initContainerStatuses ?? [],
      spec.initContainers ?? [],
    ),
    ...errorsOf(status.ephemeralContainerStatuses ?? [], ({ allocatedResourcesStatus = [] }, index) =>
      allocatedResourcesStatus.length === 0
        ? []
        : [
            forbiddenField(
              at.child('ephemeralContainerStatuses').index(index).child('allocatedResourcesStatus'),
              'must not be specified in container status',
            ),
          ],
    ),
  ])
  if (rules.enabled('ImageVolumeWithDigest'))
    append(
      errors,
      listsOfStatuses.flatMap((list) => validateVolumeStatuses(at.child(list), status[list] ?? [])),
    )
  return errors
}

const SYSTEM_CONDITIONS = new Set(['PodScheduled', 'Ready', 'Initialized'])

const validateConditions = (here: FieldPath, conditions: readonly CoreV1.PodCondition[]): FieldError[] =>
  errorsOf(conditions, ({ type = '', observedGeneration = 0 }, index) => [
    ...(observedGeneration < 0
      ? [invalidValue(here.index(index).child('observedGeneration'), observedGeneration, NOT_NEGATIVE)]
      : []),
    ...(SYSTEM_CONDITIONS.has(type) ? [] : validateQualifiedName(here.index(index).child('Type'), type)),
  ])

/** A terminated container may run again only where the restart policy allows it. */
function validateTransitions(
  list: (typeof listsOfStatuses)[number],
  statuses: readonly CoreV1.ContainerStatus[] = [],
  old: readonly CoreV1.ContainerStatus[] = [],
  spec: CoreV1.PodSpec,
  rules: PodRules,
): FieldError[] {
  const isEphemeral = list === 'ephemeralContainerStatuses'
  const containers = list === 'initContainerStatuses' ? spec.initContainers : spec.containers
  if (!isEphemeral && rules.enabled('RestartAllContainersOnContainerExits') && restartsAll(spec)) return []
  const nowOf = firstBy(statuses, ({ name }) => name)
  const containerOf = firstBy(containers ?? [], ({ name }) => name)
  return errorsOf(old, ({ name, state }, index) => {
    const exitCode = state?.terminated?.exitCode ?? 0
    const now = nowOf.get(name)
    if (state?.terminated === undefined || now === undefined || now.state?.terminated !== undefined) return []
    const container = containerOf.get(name)
    if (!isEphemeral && container !== undefined && mayRestart(container, spec, exitCode)) return []
    return [
      forbiddenField(at.child(list).index(index).child('state'), 'may not be transitioned to non-terminated state'),
    ]
  })
}

const restartsAll = (spec: CoreV1.PodSpec): boolean =>
  [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
  )

function mayRestart(container: CoreV1.Container, spec: CoreV1.PodSpec, exitCode: number): boolean {
  for (const { action, exitCodes } of container.restartPolicyRules ?? []) {
    const isListed = (exitCodes?.values ?? []).includes(exitCode)
    const isMet = exitCodes !== undefined && (exitCodes.operator === 'In' ? isListed : !isListed)
    if (isMet && action === 'Restart') return true
  }
  const policy = container.restartPolicy ?? spec.restartPolicy
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
}

function validateClaimStatuses(
  here: FieldPath,
  statuses: readonly CoreV1.PodResourceClaimStatus[],
  spec: CoreV1.PodSpec,
): FieldError[] {
  const claims = kept(spec.resourceClaims, () => new Set((spec.resourceClaims ?? []).map(({ name = '' }) => name)))
  const seen = kept(statuses, () => new Set<string>())
  return errorsOf(statuses, ({ name = '', resourceClaimName }, index) => {
    const nameAt = here.index(index).child('name')
    const errors: FieldError[] = []
    if (!claims.has(name))
      errors.push(invalidValue(nameAt, name, 'must match the name of an entry in `spec.resourceClaims`'))
    if (seen.has(name)) errors.push(duplicate(nameAt, name))
    seen.add(name)
    if (resourceClaimName !== undefined)
      append(errors, validateSubdomain(here.index(index).child('resourceClaimName'), resourceClaimName))
    return errors
  })
}

function validateExtendedClaim(
  here: FieldPath,
  status: CoreV1.PodExtendedResourceClaimStatus | undefined,
  spec: CoreV1.PodSpec,
): FieldError[] {
  if (status === undefined) return []
  const { requestMappings = [], resourceClaimName = '' } = status
  const list = here.child('requestMappings')
  const errors: FieldError[] = []
  if (requestMappings.length === 0) errors.push(required(list, 'at least one request mapping is required'))
  const containers = kept(requestMappings, () =>
    firstBy([...(spec.containers ?? []), ...(spec.initContainers ?? [])], ({ name }) => name),
  )
  const seen = kept(requestMappings, () => new Set<string>())
  append(
    errors,
    errorsOf(requestMappings, ({ containerName = '', resourceName = '', requestName = '' }, index) => {
      const errors: FieldError[] = []
      const entry = list.index(index)
      const container = containers.get(containerName)
      if (container === undefined)
        errors.push(
          invalidValue(
            entry.child('containerName'),
            containerName,
            'must match the name of an entry in spec.initContainers.name or spec.containers.name',
          ),
        )
      else if (ownValue(container.resources?.requests, resourceName) === undefined)
        errors.push(
          invalidValue(
            entry.child('resourceName'),
            resourceName,
            'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests',
          ),
        )
      append(errors, validateLabelText(here.child('requestName'), requestName))
      const key = JSON.stringify([containerName, resourceName, requestName])
      if (seen.has(key))
        errors.push(
          duplicate(entry.child('containerName'), containerName),
          duplicate(entry.child('resourceName'), resourceName),
          duplicate(entry.child('requestName'), requestName),
        )
      seen.add(key)
      return errors
    }),
  )
  const nameAt = here.child('resourceClaimName')
  return [...errors, ...(resourceClaimName === '' ? [required(nameAt)] : validateSubdomain(nameAt, resourceClaimName))]
}

function validateNodeAllocatable(here: FieldPath, status: CoreV1.PodStatus, spec: CoreV1.PodSpec): FieldError[] {
  const claims = new Set(
    [...(spec.resourceClaims ?? []), ...(status.resourceClaimStatuses ?? [])].map((claim) => claim.resourceClaimName),
  )
  return errorsOf(status.nodeAllocatableResourceClaimStatuses ?? [], (entry, index) => {
    const { resourceClaimName = '', containers = [], resources = {} } = entry
    const at = here.index(index)
    const errors: FieldError[] = []
    if (resourceClaimName === '') errors.push(required(at.child('resourceClaimName'), 'must not be empty'))
    if (!claims.has(resourceClaimName))
      errors.push(invalidValue(at.child('resourceClaimName'), resourceClaimName, 'no mapping found in pod reference'))
    if (containers.length === 0) errors.push(required(at.child('containers'), 'must not be empty'))
    if (Object.keys(resources).length === 0) errors.push(required(at.child('resources'), 'must not be empty'))
    const ofResources = errorsByName(resources, (name) => {
      const key = at.child('resources').key(name)
      const amount = ownValue(resources, name)!
      const wrong = isNative(name) ? [] : [invalidValue(key, name, 'must be a node allocatable resource name')]
      if (Quantity.parse(amount).sign < 0) wrong.push(invalidValue(key, amount, 'must be non-negative'))
      return wrong
    })
    return [...errors, ...ofResources]
  })
}

type Address = CoreV1.PodIP | CoreV1.HostIP

function validateIps(
  here: FieldPath,
  addresses: readonly Address[],
  old: readonly Address[],
  type: 'PodIP' | 'HostIP',
): FieldError[] {
  const existing = kept(old, () => new Set(old.map(({ ip = '' }) => ip)))
  const errors = errorsOf(addresses, ({ ip = '' }, index) => legacyIpErrors(here.index(index), ip, existing))
  if (addresses.length < 2) return errors
  const families = addresses.map(({ ip = '' }) => familyOf(ip))
  const invalid = addresses.findIndex((_address, index) => families[index] === undefined)
  if (invalid >= 0)
    errors.push({
      type: 'InternalError',
      field: here.toString(),
      message: `Internal error: failed to check for dual stack with error:invalid IP[${invalid}]: ${addresses[invalid]!.ip ?? ''}`,
    })
  const isDual = invalid < 0 && new Set(families).size === 2
  if (!isDual || addresses.length > 2)
    errors.push(
      invalidValue(
        here,
        addresses.map((address) => internalJson(`${CORE}.${type}`, address)),
        'may specify no more than one IP for each IP family',
      ),
    )
  return errors
}

function validateHostIps({ hostIP = '', hostIPs = [] }: CoreV1.PodStatus, old: CoreV1.PodStatus): FieldError[] {
  const here = at.child('hostIPs')
  const [first] = hostIPs
  if (first === undefined) return []
  const differs = (first.ip ?? '') !== hostIP
  return [
    ...(differs ? [invalidValue(here.index(0).child('ip'), first.ip ?? '', 'must be equal to `hostIP`')] : []),
    ...validateIps(here, hostIPs, old.hostIPs ?? [], 'HostIP'),
  ]
}

const validateUsers = (
  here: FieldPath,
  statuses: readonly CoreV1.ContainerStatus[],
  os: CoreV1.PodOS | undefined,
): FieldError[] =>
  errorsOf(statuses, ({ user }, index) => {
    const linux = user?.linux
    const linuxAt = here.index(index).child('user', 'linux')
    if (linux === undefined) return []
    if (os?.name === 'windows') return [forbiddenField(linuxAt, 'cannot be set for a windows pod')]
    return [
      ...validateId(linuxAt.child('uid'), linux.uid ?? 0),
      ...validateId(linuxAt.child('gid'), linux.gid ?? 0),
      ...errorsOf(linux.supplementalGroups ?? [], (group, position) =>
        validateId(linuxAt.child('supplementalGroups').index(position), group),
      ),
    ]
  })

const HEALTH = ['Healthy', 'Unhealthy', 'Unknown']
const MAX_MESSAGE = 1024

function validateAllocated(
  here: FieldPath,
  statuses: readonly CoreV1.ContainerStatus[],
  containers: readonly CoreV1.Container[],
): FieldError[] {
  const containerOf = firstBy(containers, ({ name }) => name)
  return errorsOf(statuses, ({ name: containerName, allocatedResourcesStatus = [] }, index) => {
    const container = containerOf.get(containerName)
    const requests = new Set(Object.keys(container?.resources?.requests ?? {}))
    const claims = new Set(
      (container?.resources?.claims ?? []).map(
        (claim) => `claim:${claim.name ?? ''}${claim.request ? `/${claim.request}` : ''}`,
      ),
    )
    const list = here.index(index).child('allocatedResourcesStatus')
    return errorsOf(allocatedResourcesStatus, ({ name = '', resources = [] }, position) => {
      const entry = list.index(position)
      const errors: FieldError[] = []
      if (container !== undefined) {
        const isClaim = name.startsWith('claim:')
        const known = isClaim ? claims : requests
        if (!known.has(name))
          errors.push(
            invalidValue(
              entry.child('name'),
              name,
              isClaim
                ? "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
                : "must match one of the container's resource requests",
            ),
          )
      }
      const seen = kept(resources, () => new Set<string>())
      append(
        errors,
        errorsOf(resources, ({ resourceID = '', health = '', message }, place) => {
          const errors: FieldError[] = []
          const resource = entry.child('resources').index(place)
          if (!HEALTH.includes(health)) errors.push(notSupported(resource.child('health'), health, HEALTH))
          if (message === '') errors.push(required(resource.child('message'), 'must be non-empty if specified'))
          else if (message !== undefined && byteLength(message) > MAX_MESSAGE)
            errors.push(tooLong(resource.child('message'), MAX_MESSAGE))
          if (seen.has(resourceID)) errors.push(duplicate(resource.child('resourceID'), resourceID))
          seen.add(resourceID)
          return errors
        }),
      )
      return errors
    })
  })
}

const MAX_IMAGE_REF = 256

const validateVolumeStatuses = (here: FieldPath, statuses: readonly CoreV1.ContainerStatus[]): FieldError[] =>
  errorsOf(statuses, ({ volumeMounts = [] }, index) =>
    errorsOf(volumeMounts, ({ volumeStatus }, position) => {
      const image = volumeStatus?.image
      if (image === undefined) return []
      const ref = here
        .index(index)
        .child('volumeMounts')
        .index(position)
        .child('volumeStatus', 'imageVolumeStatus', 'imageRef')
      const { imageRef = '' } = image
      if (imageRef === '') return [required(ref, 'imageRef must not be empty')]
      return byteLength(imageRef) > MAX_IMAGE_REF ? [tooLong(ref, MAX_IMAGE_REF)] : []
    }),
  )
