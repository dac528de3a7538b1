/** The expected number of pods, from the scale of their controllers. */
import type { Pod } from '../../../api/core/v1.ts'
import type { OwnerReference } from '../../../api/object.ts'
import { groupResourceText } from '../../../api/group-version.ts'
import { controllerRefOf } from '../../../registry/work/work.ts'
import { ownerKindOf } from '../../../registry/work/owner-kinds.ts'
import type { Clientset } from '../../client/clientset.ts'
import type { ControllerContext } from '../../controller.ts'
import { ownerEntry } from '../../garbage/owners.ts'
import { DEPLOYMENTS } from '../deployment/deployment.ts'
import { REPLICA_SETS } from '../replica-set.ts'

interface Scaled {
  readonly uid: string
  readonly replicas: number
}

/** @throws Error for a pod whose controller does not exist, or has no scale */
export async function expectedScale(
  context: ControllerContext,
  clients: Clientset,
  pods: readonly Pod[],
): Promise<{ readonly count: number; readonly hasUnmanaged: boolean }> {
  const asked = new Set<string>()
  const scales = new Map<string, number>()
  let hasUnmanaged = false
  for (const pod of pods) {
    const owner = controllerRefOf(pod)
    if (owner === undefined) hasUnmanaged = true
    if (owner?.uid === undefined || asked.has(owner.uid)) continue
    asked.add(owner.uid)
    const scaled = await scaleOf(context, clients, owner, pod.metadata.namespace ?? '')
    if (scaled === undefined) throw new Error(`found no controllers for pod ${JSON.stringify(pod.metadata.name)}`)
    scales.set(scaled.uid, scaled.replicas)
  }
  return { count: [...scales.values()].reduce((sum, replicas) => sum + replicas, 0), hasUnmanaged }
}

/** The scale of a controller; for a ReplicaSet of a Deployment, that of the Deployment. */
async function scaleOf(
  context: ControllerContext,
  clients: Clientset,
  owner: OwnerReference,
  namespace: string,
): Promise<Scaled | undefined> {
  return (await deploymentScale(clients, owner, namespace)) ?? ownScale(context, clients, owner, namespace)
}

async function deploymentScale(
  clients: Clientset,
  owner: OwnerReference,
  namespace: string,
): Promise<Scaled | undefined> {
  if (ownerKindOf(owner) !== 'ReplicaSet.apps') return undefined
  const set = await clients.resource(REPLICA_SETS, namespace).get(owner.name ?? '')
  const above = set?.metadata.uid === owner.uid && set !== undefined ? controllerRefOf(set) : undefined
  if (above === undefined || ownerKindOf(above) !== 'Deployment.apps') return undefined
  const deployment = await clients.resource(DEPLOYMENTS, namespace).get(above.name ?? '')
  const { uid = '' } = deployment?.metadata ?? {}
  return uid === '' || uid !== above.uid ? undefined : { uid, replicas: deployment?.spec?.replicas ?? 1 }
}

async function ownScale(
  context: ControllerContext,
  clients: Clientset,
  owner: OwnerReference,
  namespace: string,
): Promise<Scaled | undefined> {
  const entry = await ownerEntry(context, owner)
  if (entry === undefined)
    throw new Error(`no matches for kind ${JSON.stringify(owner.kind)} in version ${JSON.stringify(owner.apiVersion)}`)
  if (!entry.subresources.some((subresource) => subresource.name === 'scale'))
    throw new Error(`${groupResourceText(entry.storage)} does not implement the scale subresource`)
  const scale = await clients.of(entry, namespace).scale(owner.name ?? '')
  const { uid = '' } = scale?.metadata ?? {}
  return uid === '' || uid !== owner.uid ? undefined : { uid, replicas: scale?.spec?.replicas ?? 0 }
}
