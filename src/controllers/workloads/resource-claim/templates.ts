/** Creates a pod's ResourceClaims from their templates, and writes their names into the pod's status. */
import type { Pod, PodResourceClaim } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { ResourceClaim, ResourceClaimTemplate } from '../../../api/resource/v1.ts'
import { claimNameOf, notMadeFor, POD_CLAIM } from '../../../registry/resource/pod-claims.ts'
import type { Clientset } from '../../client/clientset.ts'
import { typedResource } from '../../client/clientset.ts'
import type { ControllerContext } from '../../controller.ts'
import { EventRecorder } from '../events/events.ts'
import { PODS } from '../pods/pod-control.ts'

export const RESOURCE_CLAIMS = typedResource<ResourceClaim & KubeObject>('resource.k8s.io', 'resourceclaims')
const TEMPLATES = typedResource<ResourceClaimTemplate & KubeObject>('resource.k8s.io', 'resourceclaimtemplates')

type Claim = ResourceClaim & KubeObject

/** Why a pod has no claim: an Event reports it, and the controller tries again. */
class NotMade extends Error {}

/** @returns the pod in its present state */
export async function claimsOfPod(pod: Pod, clients: Clientset, context: ControllerContext): Promise<Pod> {
  /** The names of created claims, by the name in the pod's spec. */
  const made = new Map<string, string>()
  for (const podClaim of pod.spec?.resourceClaims ?? []) {
    const { name = '' } = podClaim
    try {
      const claim = await missingClaim(pod, podClaim, clients)
      if (claim !== undefined) made.set(name, claim.metadata.name ?? '')
    } catch (error) {
      const message = `PodResourceClaim ${name}: ${error instanceof Error ? error.message : String(error)}`
      const events = new EventRecorder(clients, 'resource_claim', () => context.now())
      await events.warning(pod, 'FailedResourceClaimCreation', message)
      // the creation of the template queues this work again
      if (error instanceof NotMade) return pod
      throw error
    }
  }
  return made.size === 0 ? pod : recordClaims(pod, made, clients)
}

/** The claim that the pod's status lacks, found or created; undefined where nothing is missing. */
async function missingClaim(pod: Pod, podClaim: PodResourceClaim, clients: Clientset): Promise<Claim | undefined> {
  const found = claimNameOf(pod, podClaim)
  const claims = clients.resource(RESOURCE_CLAIMS, pod.metadata.namespace)
  if (found !== 'not made yet') {
    if (found.name === undefined || !found.isMade) return undefined
    const claim = await claims.get(found.name)
    if (claim !== undefined && notMadeFor(pod, claim) === undefined) return undefined
  }
  const templateName = podClaim.resourceClaimTemplateName
  if (templateName === undefined) return undefined
  // an earlier attempt created the claim but could not write the status
  for await (const claim of claims.each({ owner: pod.metadata.uid ?? '' }))
    if (claim.metadata.annotations?.[POD_CLAIM] === podClaim.name && notMadeFor(pod, claim) === undefined) return claim
  const template = await clients.resource(TEMPLATES, pod.metadata.namespace).get(templateName)
  if (template === undefined) {
    const name = JSON.stringify(templateName)
    throw new NotMade(`resource claim template ${name}: resourceclaimtemplate.resource.k8s.io ${name} not found`)
  }
  return claims.create(claimFor(pod, podClaim, template))
}

function claimFor({ metadata }: Pod, { name = '' }: PodResourceClaim, { spec = {} }: ResourceClaimTemplate): Claim {
  const { labels, annotations } = spec.metadata ?? {}
  const owner = { apiVersion: 'v1', kind: 'Pod', name: metadata.name ?? '', uid: metadata.uid ?? '', controller: true }
  return {
    kind: 'ResourceClaim',
    apiVersion: 'resource.k8s.io/v1',
    metadata: {
      generateName: generateName(metadata.name ?? '', name),
      namespace: metadata.namespace ?? '',
      ownerReferences: [owner],
      annotations: { ...annotations, [POD_CLAIM]: name },
      ...(labels === undefined ? {} : { labels }),
    },
    spec: spec.spec ?? {},
  }
}

/** The length that is left for the names when a hyphen and five characters follow. */
const LONGEST_BASE = 57

/** The prefix of a claim's name. It cuts both names in proportion where they are too long together. */
export function generateName(pod: string, claim: string): string {
  const whole = `${pod}-${claim}-`
  if (whole.length <= LONGEST_BASE) return whole
  const part = (name: string) => name.slice(0, Math.trunc((name.length * LONGEST_BASE) / whole.length))
  return `${part(pod)}-${part(claim)}`
}

function recordClaims(pod: Pod, made: ReadonlyMap<string, string>, clients: Clientset): Promise<Pod> {
  // apply the known entries too: server-side apply removes entries that are no longer applied
  const known = (pod.status?.resourceClaimStatuses ?? []).map(
    ({ name = '', resourceClaimName }) => [name, resourceClaimName] as const,
  )
  const resourceClaimStatuses = [...new Map([...known, ...made])].map(([name, resourceClaimName]) => ({
    name,
    ...(resourceClaimName === undefined ? {} : { resourceClaimName }),
  }))
  return clients
    .resource(PODS, pod.metadata.namespace)
    .apply(
      pod,
      { kind: 'Pod', apiVersion: 'v1', status: { resourceClaimStatuses } },
      { fieldManager: 'ResourceClaimController', subresource: 'status' },
    )
}
