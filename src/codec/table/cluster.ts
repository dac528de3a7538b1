/**
 * Printers of API groups with few kinds: coordination, node, scheduling, flow control, resource.k8s.io,
 * kube-apiserver's own.
 */
import type { APIService } from '../../api/apiregistration/v1.ts'
import type { StorageVersion } from '../../api/apiserverinternal/v1alpha1.ts'
import type { Lease } from '../../api/coordination/v1.ts'
import type { LeaseCandidate } from '../../api/coordination/v1beta1.ts'
import type { FlowSchema, PriorityLevelConfiguration } from '../../api/flowcontrol/v1.ts'
import type { RuntimeClass } from '../../api/node/v1.ts'
import type { ResourceClaim, ResourceSlice } from '../../api/resource/v1.ts'
import type { DeviceTaintRule, ResourcePoolStatusRequest } from '../../api/resource/v1alpha3.ts'
import type { PriorityClass } from '../../api/scheduling/v1.ts'
import type { PodGroup } from '../../api/scheduling/v1alpha2.ts'
import type { StorageVersionMigration } from '../../api/storagemigration/v1beta1.ts'
import { groupResourceText } from '../../api/group-version.ts'
import { since } from './age.ts'
import { age, listWithMore, nameAndAge, nameOf, printer } from './cells.ts'

export const leasePrinter = printer<Lease>((object, now) => [
  nameOf(object),
  object.spec?.holderIdentity ?? '',
  age(object, now),
])

export const leaseCandidatePrinter = printer<LeaseCandidate>((object, now) => [
  nameOf(object),
  object.spec?.leaseName ?? '',
  object.spec?.binaryVersion ?? '',
  object.spec?.emulationVersion ?? '',
  age(object, now),
])

export const runtimeClassPrinter = printer<RuntimeClass>((object, now) => [
  nameOf(object),
  object.handler ?? '',
  age(object, now),
])

export const priorityClassPrinter = printer<PriorityClass>((object, now) => [
  nameOf(object),
  object.value ?? 0,
  object.globalDefault ?? false,
  age(object, now),
  object.preemptionPolicy ?? '',
])

export const workloadPrinter = nameAndAge

export const podGroupPrinter = printer<PodGroup>((object, now) => [
  nameOf(object),
  object.spec?.schedulingPolicy?.gang ? 'Gang' : 'Basic',
  workloadOf(object),
  podGroupStatus(object),
  age(object, now),
])

const workloadOf = ({ spec = {} }: PodGroup): string =>
  spec.podGroupTemplateRef ? (spec.podGroupTemplateRef.workload?.workloadName ?? '') : '<none>'

function podGroupStatus({ status = {} }: PodGroup): string {
  const condition = (wanted: string) => status.conditions?.findLast(({ type }) => type === wanted)
  const disrupted = condition('DisruptionTarget')
  if (disrupted !== undefined) return disrupted.reason ?? ''
  const scheduled = condition('PodGroupScheduled')
  if (scheduled === undefined) return 'Pending'
  return scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable'
}

const NONE = '<none>'

export const flowSchemaPrinter = printer<FlowSchema>(
  (object, now) => [
    nameOf(object),
    object.spec?.priorityLevelConfiguration?.name ?? '',
    object.spec?.matchingPrecedence ?? 0,
    object.spec?.distinguisherMethod?.type ?? NONE,
    age(object, now),
    object.status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
  ],
  { order: byPrecedence },
)

export const priorityLevelConfigurationPrinter = printer<PriorityLevelConfiguration>((object, now) => {
  const { type = '', limited } = object.spec ?? {}
  const { queuing } = limited?.limitResponse ?? {}
  return [
    nameOf(object),
    type,
    limited === undefined ? NONE : (limited.nominalConcurrencyShares ?? 0),
    ...(queuing === undefined
      ? [NONE, NONE, NONE]
      : [queuing.queues ?? 0, queuing.handSize ?? 0, queuing.queueLengthLimit ?? 0]),
    age(object, now),
  ]
})

/** The order in which kube-apiserver matches requests. */
function byPrecedence(a: FlowSchema, b: FlowSchema): number {
  const precedence = ({ spec = {} }: FlowSchema) => spec.matchingPrecedence ?? 0
  return precedence(a) - precedence(b) || (nameOf(a) < nameOf(b) ? -1 : 1)
}

export const deviceClassPrinter = nameAndAge

export const resourceClaimTemplatePrinter = nameAndAge

export const resourceClaimPrinter = printer<ResourceClaim>((object, now) => [
  nameOf(object),
  claimState(object),
  age(object, now),
])

export const resourceSlicePrinter = printer<ResourceSlice>((object, now) => [
  nameOf(object),
  object.spec?.nodeName ?? '',
  object.spec?.driver ?? '',
  object.spec?.pool?.name ?? '',
  age(object, now),
])

export const deviceTaintRulePrinter = printer<DeviceTaintRule>((object, now) => {
  const { key = '', value = '', effect = '', timeAdded } = object.spec?.taint ?? {}
  return [nameOf(object), key, value, effect, timeAdded === undefined ? '' : since(timeAdded, now), age(object, now)]
})

export const resourcePoolStatusRequestPrinter = printer<ResourcePoolStatusRequest>((object, now) => [
  nameOf(object),
  object.spec?.driver ?? '',
  ...poolCells(object, now),
])

function claimState({ metadata, status = {} }: ResourceClaim): string {
  const states: string[] = []
  if (metadata.deletionTimestamp !== undefined) states.push('deleted')
  if (status.allocation !== undefined) {
    states.push('allocated')
    if ((status.reservedFor ?? []).length > 0) states.push('reserved')
  } else if (metadata.deletionTimestamp === undefined) states.push('pending')
  return states.join(',')
}

function poolCells({ status }: ResourcePoolStatusRequest, now: Date): (string | number)[] {
  if (status === undefined) return ['-', '-', '-', '-', '-', 0, 'Pending', NONE]
  const { pools = [], poolCount = 0 } = status
  const decided = status.conditions?.find(
    ({ type, status }) => status === 'True' && (type === 'Complete' || type === 'Failed'),
  )
  const sum = (field: 'totalDevices' | 'availableDevices' | 'allocatedDevices' | 'unavailableDevices') =>
    String(pools.reduce((total, pool) => total + (pool[field] ?? 0), 0))
  const counts =
    decided?.type === 'Failed'
      ? ['-', '-', '-', '-', '-']
      : [
          sum('totalDevices'),
          sum('availableDevices'),
          sum('allocatedDevices'),
          sum('unavailableDevices'),
          String(pools.filter(({ validationError }) => validationError !== undefined).length),
        ]
  const isComplete = decided?.type === 'Complete'
  const isCut = isComplete && poolCount > pools.length
  return [
    ...counts,
    poolCount,
    isCut ? `Complete (${pools.length}/${poolCount} pools)` : (decided?.type ?? 'Pending'),
    isComplete ? since(decided?.lastTransitionTime, now) : NONE,
  ]
}

export const apiServicePrinter = printer<APIService>((object, now) => {
  const { service } = object.spec ?? {}
  return [
    nameOf(object),
    service === undefined ? 'Local' : `${service.namespace ?? ''}/${service.name ?? ''}`,
    availability(object),
    age(object, now),
  ]
})

function availability({ status = {} }: APIService): string {
  const available = status.conditions?.find(({ type }) => type === 'Available')
  if (available === undefined) return 'Unknown'
  const text = available.status ?? ''
  return text === 'True' || !available.reason ? text : `${text} (${available.reason})`
}

const MOST_VERSIONS = 3

export const storageVersionPrinter = printer<StorageVersion>((object, now) => {
  const versions = (object.status?.storageVersions ?? []).map(
    ({ apiServerID = '', encodingVersion = '' }) => `${apiServerID}=${encodingVersion}`,
  )
  return [
    nameOf(object),
    object.status?.commonEncodingVersion ?? '<unset>',
    listWithMore(versions.slice(0, MOST_VERSIONS), versions.length, MOST_VERSIONS) || '<unset>',
    age(object, now),
  ]
})

export const storageVersionMigrationPrinter = printer<StorageVersionMigration>((object) => {
  const { group = '', resource = '' } = object.spec?.resource ?? {}
  const state = object.status?.conditions?.findLast(
    ({ type, status }) => status === 'True' && ['Running', 'Failed', 'Succeeded'].includes(type ?? ''),
  )
  return [nameOf(object), groupResourceText({ group, resource }), state?.type ?? 'Unknown']
})
