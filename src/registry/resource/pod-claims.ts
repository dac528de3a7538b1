/** Finds the ResourceClaims of a pod (dynamic-resource-allocation's resourceclaim.Name and IsForPod). */
import type { Pod, PodResourceClaim } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ResourceClaim } from '../../api/resource/v1.ts'

/** Annotation of a claim that the controller made for a pod. It names the entry in the pod's resourceClaims. */
export const POD_CLAIM = 'resource.kubernetes.io/pod-claim-name'
/** Keeps an allocated claim from being removed. */
export const CLAIM_FINALIZER = 'resource.kubernetes.io/delete-protection'

/**
 * `isMade`: the controller made the claim for the pod, which must own it. If the pod needs no claim, there is no name.
 */
export type ClaimName = { readonly isMade: boolean; readonly name: string | undefined } | 'not made yet'

export function claimNameOf(pod: Pod, { name, resourceClaimName }: PodResourceClaim): ClaimName {
  if (resourceClaimName !== undefined) return { name: resourceClaimName, isMade: false }
  const made = pod.status?.resourceClaimStatuses?.find((status) => status.name === name)
  return made === undefined ? 'not made yet' : { name: made.resourceClaimName, isMade: true }
}

/** The pod's claims that have a name already, and the one that a scheduler made for its extended resources. */
export function claimNamesOf(pod: Pod): string[] {
  const named = (pod.spec?.resourceClaims ?? []).flatMap((podClaim) => {
    const found = claimNameOf(pod, podClaim)
    return found === 'not made yet' || found.name === undefined ? [] : [found.name]
  })
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName
  return extended === undefined ? named : [...named, extended]
}

/** The pod for which the controller or a scheduler made the claim. */
export const podOfClaim = ({ metadata }: KubeObject) =>
  metadata.ownerReferences?.find(
    ({ controller, apiVersion, kind }) => controller === true && apiVersion === 'v1' && kind === 'Pod',
  )

/** Why a claim does not belong to the pod. Undefined: it does. */
export function notMadeFor({ metadata: pod }: Pod, { metadata: claim }: ResourceClaim): string | undefined {
  const isOwner = claim.ownerReferences?.some(({ controller, uid }) => controller === true && uid === pod.uid)
  return isOwner === true
    ? undefined
    : `ResourceClaim ${claim.namespace}/${claim.name} was not created for Pod ${pod.namespace}/${pod.name} (Pod is not owner)`
}

export const isReservedFor = ({ metadata }: Pod, { status }: ResourceClaim): boolean =>
  status?.reservedFor?.some(({ uid }) => uid === metadata.uid) === true

/** Whether no container of the pod runs or will run. */
export const isPodDone = ({ metadata, spec, status }: Pod): boolean =>
  status?.phase === 'Succeeded' ||
  status?.phase === 'Failed' ||
  (metadata.deletionTimestamp !== undefined && !spec?.nodeName)
