/**
 * Whether the kubelet of a simulated node may start a pod: its claims of devices must be allocated and reserved for it.
 */
import type { Pod } from '../../api/core/v1.ts'
import { claimNameOf, isReservedFor, notMadeFor } from '../../registry/resource/pod-claims.ts'
import type { Clientset } from '../client/clientset.ts'
import { RESOURCE_CLAIMS } from '../workloads/resource-claim/templates.ts'

/** Whether the pod has claims and has not started yet. */
export const needsClaims = ({ metadata, spec, status }: Pod): boolean =>
  ((spec?.resourceClaims ?? []).length > 0 || status?.extendedResourceClaimStatus !== undefined) &&
  status?.startTime === undefined &&
  metadata.deletionTimestamp === undefined

/** Why the pod may not start, in a kubelet's words. */
export async function claimsProblem(pod: Pod, clients: Clientset): Promise<string | undefined> {
  const { namespace, name, uid } = pod.metadata
  const extended = pod.status?.extendedResourceClaimStatus
  for (const podClaim of [...(pod.spec?.resourceClaims ?? []), ...(extended === undefined ? [] : [extended])]) {
    const found = claimNameOf(pod, podClaim)
    if (found === 'not made yet') return `pod "${namespace}/${name}": ResourceClaim not created yet`
    if (found.name === undefined) continue
    const claim = await clients.resource(RESOURCE_CLAIMS, namespace).get(found.name)
    if (claim === undefined)
      return `fetch ResourceClaim ${found.name}: resourceclaims.resource.k8s.io "${found.name}" not found`
    const problem = found.isMade ? notMadeFor(pod, claim) : undefined
    if (problem !== undefined) return problem
    if (!isReservedFor(pod, claim))
      return `pod ${name} (${uid}) is not allowed to use ResourceClaim ${found.name} (${claim.metadata.uid})`
    if (claim.status?.allocation === undefined) return `ResourceClaim ${found.name}: not allocated`
  }
  return undefined
}
