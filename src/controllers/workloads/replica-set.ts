/**
 * As many pods as a ReplicaSet or a ReplicationController wants (kube-controller-manager's replicaset controller).
 * Key: NAMESPACE/NAME.
 */
import type { ReplicaSet } from '../../api/apps/v1.ts'
import type { Pod } from '../../api/core/v1.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import { StatusError } from '../../api/status.ts'
import { cloneJson } from '../../api/clone-json.ts'
import { controllerRefOf } from '../../registry/workload-work.ts'
import { timeText } from '../../schema/time.ts'
import type { Clientset } from '../clientset.ts'
import { clientsetFor, typedResource } from '../clientset.ts'
import type { Controller } from '../controller.ts'
import { EventRecorder } from './events.ts'
import { keyParts } from './key.ts'
import { controllerRefTo, dependentsOf, podFromTemplate, PodControl, PODS, slowStart } from './pod-control.ts'
import { isActive, isLeaving } from './pod-state.ts'
import { BURST, podsToDelete, replicaSetStatus, untilNextAvailable } from './replicas.ts'
import { sameJson } from './same-json.ts'

export const REPLICA_SETS = typedResource<ReplicaSet>('apps', 'replicasets')
export const REPLICA_SET: GroupVersionKind = { group: 'apps', version: 'v1', kind: 'ReplicaSet' }

export const replicaSetController: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, 'replicaset-controller')
    const sets = clients.resource(REPLICA_SETS, namespace)
    const set = await sets.get(name)
    if (set?.spec?.selector === undefined) return undefined
    const events = new EventRecorder(clients, 'replicaset-controller', context.now)
    const pods = await podsOf(clients, set)
    const active = pods.filter(isActive)
    let failure: StatusError | undefined
    const change = set.metadata.deletionTimestamp === undefined ? (set.spec.replicas ?? 1) - active.length : 0
    const control = new PodControl(clients, events)
    try {
      if (change > 0) await createPods(control, set, Math.min(change, BURST))
      if (change < 0) {
        const related = await podsOfFamily(clients, set, pods)
        const going = podsToDelete(active, related, Math.min(-change, BURST), context.now())
        await Promise.all(going.map((pod) => control.delete(pod, set)))
      }
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      failure = error
    }
    const now = context.now()
    const state = { active, leaving: pods.filter(isLeaving) }
    const status = replicaSetStatus(set, state, failure?.message, now, timeText(now))
    if (!sameJson(status, set.status)) await sets.updateStatus({ ...cloneJson(set), status })
    if (failure !== undefined) throw failure
    const { minReadySeconds = 0 } = set.spec
    return minReadySeconds === 0 ? undefined : untilNextAvailable(active, minReadySeconds, now)
  },
}

function createPods(control: PodControl, set: ReplicaSet, count: number): Promise<void> {
  const pod = podFromTemplate(set.spec?.template, set, controllerRefTo(set, REPLICA_SET))
  return slowStart(count, () => control.create(cloneJson(pod), set))
}

/** What it owns, and what it adopts. */
function podsOf(clients: Clientset, set: ReplicaSet): Promise<Pod[]> {
  return dependentsOf(clients, PODS, set, controllerRefTo(set, REPLICA_SET), set)
}

/** Those of the other ReplicaSets of its Deployment too. */
async function podsOfFamily(clients: Clientset, set: ReplicaSet, own: readonly Pod[]): Promise<readonly Pod[]> {
  const owner = controllerRefOf(set)
  if (owner?.uid === undefined) return own
  const { namespace } = set.metadata
  const siblings = await clients.resource(REPLICA_SETS, namespace).list({ owner: owner.uid })
  const others = siblings.filter(({ metadata, status }) => metadata.uid !== set.metadata.uid && status?.replicas)
  const theirs = await Promise.all(
    others.map(({ metadata }) => clients.resource(PODS, namespace).list({ owner: metadata.uid ?? '' })),
  )
  return [...own, ...theirs.flat()]
}
