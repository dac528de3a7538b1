/**
 * Makes the claims of a pod's ephemeral volumes. The pod owns them, so they are deleted with it (KEP-1698). Key:
 * NAMESPACE/NAME of the pod.
 */
import type { PersistentVolumeClaim, Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import { controllerRefOf } from '../../registry/work/work.ts'
import { clientsetFor } from '../client/clientset.ts'
import type { Controller } from '../controller.ts'
import type { ResourceClient } from '../client/resource-client.ts'
import { EventRecorder } from '../workloads/events/events.ts'
import { keyParts } from '../workloads/key.ts'
import { PODS } from '../workloads/pods/pod-control.ts'
import { isFinished } from '../workloads/pods/pod-state.ts'
import { CLAIMS } from './binding.ts'

export const ephemeralClaims: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, 'ephemeral-volume-controller')
    const pod = await clients.resource(PODS, namespace).get(name)
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || isFinished(pod)) return undefined
    const claims = clients.resource(CLAIMS, namespace)
    for (const { volume, claim } of claimsFor(pod))
      try {
        await ensure(claims, claim, pod)
      } catch (error) {
        if (error instanceof Error) {
          const events = new EventRecorder(clients, 'ephemeral_volume', context.now)
          await events.warning(pod, 'FailedBinding', `ephemeral volume ${volume}: ${error.message}`)
        }
        throw error
      }
    return undefined
  },
}

/** @throws Error where the claim cannot be created, or is not the pod's */
async function ensure(claims: ResourceClient<PersistentVolumeClaim>, claim: KubeObject, pod: Pod): Promise<void> {
  const { name = '' } = claim.metadata
  const known = await claims.get(name)
  if (known === undefined)
    return claims.add(claim).catch((error: unknown) => {
      if (!(error instanceof StatusError)) throw error
      throw new Error(`create PVC ${name}: ${error.message}`, { cause: error })
    })
  if (controllerRefOf(known)?.uid === pod.metadata.uid) return
  const { namespace } = pod.metadata
  throw new Error(
    `PVC ${namespace}/${name} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`,
  )
}

function claimsFor({
  metadata: { name = '', namespace = '', uid = '' },
  spec,
}: Pod): { volume: string; claim: KubeObject }[] {
  return (spec?.volumes ?? []).flatMap((volume) => {
    const template = volume.ephemeral?.volumeClaimTemplate
    if (template === undefined) return []
    const { labels, annotations } = template.metadata ?? {}
    const owner = { apiVersion: 'v1', kind: 'Pod', name, uid, controller: true, blockOwnerDeletion: true }
    const claim: KubeObject & { spec: unknown } = {
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      metadata: {
        name: `${name}-${volume.name}`,
        namespace,
        ownerReferences: [owner],
        ...(labels === undefined ? {} : { labels }),
        ...(annotations === undefined ? {} : { annotations }),
      },
      spec: template.spec ?? {},
    }
    return [{ volume: volume.name ?? '', claim }]
  })
}
