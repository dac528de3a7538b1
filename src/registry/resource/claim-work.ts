/**
 * Which writes are work for the ResourceClaim controller. The prefix of a key names the kind of object: `pod:`,
 * `claim:`, `users:`, `template:`.
 */
import type { Pod } from '../../api/core/v1.ts'
import type { DeviceClass, ResourceClaim, ResourceSlice } from '../../api/resource/v1.ts'
import type { Change, Work, WorkloadRule } from '../work/work.ts'
import { keyOf } from '../work/work.ts'
import { isExtendedClaim } from './extended-claims.ts'
import { claimNamesOf, isPodDone, podOfClaim } from './pod-claims.ts'
import { SIMULATED_DRIVER } from './simulated-driver.ts'

const work = (kind: 'pod' | 'claim' | 'users' | 'template', key: string): Work => ({
  topic: 'resource-claim',
  payload: `${kind}:${key}`,
})

/** Work after a pod is created, or gets its claims or its node, and after it no longer needs its claims. */
export const podClaimsWork: WorkloadRule = ({ object, old }: Change) => {
  const [now, before]: (Pod | undefined)[] = [object, old]
  const pod = now ?? before
  if (pod === undefined || !hasClaims(pod)) return []
  if (now === undefined || isPodDone(now)) {
    if (now !== undefined && before !== undefined && isPodDone(before)) return []
    return claimNamesOf(pod).map((name) => work('claim', `${pod.metadata.namespace}/${name}`))
  }
  const isNews = before === undefined || claimsText(now) !== claimsText(before)
  return isNews && now.metadata.deletionTimestamp === undefined ? [work('pod', keyOf(now))] : []
}

const hasClaims = ({ spec, status }: Pod): boolean =>
  (spec?.resourceClaims ?? []).length > 0 || status?.extendedResourceClaimStatus !== undefined

const claimsText = ({ spec, status }: Pod): string => JSON.stringify([spec?.nodeName, status?.resourceClaimStatuses])

/**
 * The controller removes reservations of deleted pods, and deallocates a deleted claim. After an allocation, pods that
 * have their nodes already may need a reservation.
 */
function reservationWork({ object, old }: Change): readonly Work[] {
  const [claim, before]: (ResourceClaim | undefined)[] = [object, old]
  if (claim === undefined || object === undefined) return goneWork(before)
  const reserved = ({ metadata, status }: ResourceClaim) =>
    JSON.stringify([metadata.deletionTimestamp, status?.reservedFor])
  const isNews = before === undefined || reserved(claim) !== reserved(before)
  // only its own pod uses a claim that the controller made for a pod
  const isShared = podOfClaim(object) === undefined
  const isAllocated = claim.status?.allocation !== undefined && before?.status?.allocation === undefined
  return [
    ...(isNews ? [work('claim', keyOf(object))] : []),
    ...(isShared && isAllocated ? [work('users', keyOf(object))] : []),
  ]
}

/** If the claim was made for a pod, the controller makes it again. */
function goneWork(claim: ResourceClaim | undefined): readonly Work[] {
  const pod = claim && podOfClaim(claim)
  return pod === undefined ? [] : [work('pod', `${claim?.metadata.namespace}/${pod.name}`)]
}

/** Pods may wait for a new template. */
const templateWork: WorkloadRule = ({ object, old }) =>
  object === undefined || old !== undefined ? [] : [work('template', keyOf(object))]

/** The scheduler retries pending pods after these writes, as it does after writes of pods and nodes. */
const DEVICE_CHANGED: readonly Work[] = [{ topic: 'scheduler', payload: 'DeviceChanged' }]

/** Whether a driver has reported the state of a device that a pod waits for (binding conditions). */
const isTold = (claim: ResourceClaim | undefined, before: ResourceClaim | undefined): boolean =>
  claim?.status?.allocation?.devices?.results?.some(({ bindingConditions = [] }) => bindingConditions.length > 0) ===
    true && JSON.stringify(claim.status.devices) !== JSON.stringify(before?.status?.devices)

/** A pod may wait for a new claim, or for the devices of a claim that was deallocated. */
const waitedForWork: WorkloadRule = ({ object, old }, mode) => {
  const [claim, before]: (ResourceClaim | undefined)[] = [object, old]
  const [isAllocated, wasAllocated] = [claim, before].map((one) => one?.status?.allocation !== undefined)
  // the controller writes the name of a claim that it made into the pod's status, and that write is work for the
  // scheduler
  const isShared = object !== undefined && podOfClaim(object) === undefined
  const isStaleGone = object === undefined && old !== undefined && isExtendedClaim(old)
  const isNews = wasAllocated
    ? !isAllocated || isTold(claim, before)
    : isStaleGone || (isShared && (before === undefined || isAllocated))
  return mode === 'simulated' && isNews ? DEVICE_CHANGED : []
}

/** Work after new or changed classes and slices. A deleted one helps no pending pod. */
const supplyWork: WorkloadRule = ({ object, old }, mode) => {
  const [now, before]: (ResourceSlice | DeviceClass | undefined)[] = [object, old]
  const isNews = now !== undefined && JSON.stringify(now.spec) !== JSON.stringify(before?.spec)
  return mode === 'simulated' && isNews ? DEVICE_CHANGED : []
}

/** A key of `simulated-pods`: a claim got a reservation, and pods that wait for it may start. */
export const CLAIMS_RESERVED = 'claims'

/** Simulated kubelets start pods whose claims are reserved for them. */
const reservedWork: WorkloadRule = ({ object, old }, mode) => {
  const [claim, before]: (ResourceClaim | undefined)[] = [object, old]
  const [now, then] = [claim, before].map((one) => (one?.status?.reservedFor ?? []).length)
  return mode === 'simulated' && now! > then! ? [{ topic: 'simulated-pods', payload: CLAIMS_RESERVED }] : []
}

/** After a client changes or deletes the slice of a simulated node, the node publishes it again. */
const publishedWork: WorkloadRule = ({ object, old }, mode) => {
  const [now, before]: (ResourceSlice | undefined)[] = [object, old]
  const { driver, nodeName } = (before ?? now)?.spec ?? {}
  const isChanged = before !== undefined && JSON.stringify(now?.spec) !== JSON.stringify(before.spec)
  if (mode !== 'simulated' || driver !== SIMULATED_DRIVER || !nodeName || !isChanged) return []
  return [{ topic: 'simulated-node', payload: nodeName }]
}

export const resourceClaimRules: readonly WorkloadRule[] = [reservationWork, waitedForWork, reservedWork]
export const supplyRules: readonly WorkloadRule[] = [supplyWork, publishedWork]
export const templateRules: readonly WorkloadRule[] = [templateWork]
