/**
 * Makes the claims of a pod's ephemeral volumes. The pod owns them, so they are deleted with it (KEP-1698). Key:
 * NAMESPACE/NAME of the pod.
 */
import type { Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import { clientsetFor } from '../clientset.ts'
import type { Controller } from '../controller.ts'
import { keyParts } from '../workloads/key.ts'
import { PODS } from '../workloads/pod-control.ts'
import { isFinished } from '../workloads/pod-state.ts'
import { CLAIMS } from './binding.ts'

export const ephemeralClaims: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, 'ephemeral-volume-controller')
    const pod = await clients.resource(PODS, namespace).get(name)
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || isFinished(pod)) return undefined
    const claims = clients.resource(CLAIMS, namespace)
    for (const claim of claimsFor(pod))
      await claims.create(claim).catch((error: unknown) => {
        // the claim exists: the pod uses it if the pod owns it, and otherwise the scheduler reports it
        if (!(error instanceof StatusError) || error.code !== 409) throw error
      })
    return undefined
  },
}

function claimsFor({ metadata: { name = '', namespace = '', uid = '' }, spec }: Pod): KubeObject[] {
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
    return [claim]
  })
}
