/**
 * Keeps the number of pods of a ReplicaSet or ReplicationController (kube-controller-manager's replicaset controller,
 * which handles both). Key: NAMESPACE/NAME.
 */
import { filtered, inTurns, planned } from '../work/in-turns.ts'
import type { ReplicaSet } from '../../api/apps/v1.ts'
import type { Pod, ReplicationController } from '../../api/core/v1.ts'
import type { LabelSelector } from '../../api/meta/v1.ts'
import type { OwnerReference } from '../../api/object.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import { StatusError } from '../../api/status.ts'
import { controllerRefOf } from '../../registry/work/work.ts'
import { settingsOf } from '../../settings.ts'
import { timeText } from '../../schema/time.ts'
import type { Clientset, TypedResource } from '../client/clientset.ts'
import { clientsetFor, typedResource } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { EventRecorder } from './events/events.ts'
import { keyParts } from './key.ts'
import { controllerRefTo, dependentsOf, podFromTemplate, PodControl, PODS, slowStart } from './pods/pod-control.ts'
import { isActive, isLeaving } from './pods/pod-state.ts'
import { BURST, podsToDelete, replicaSetStatus, untilNextAvailable } from './replicas.ts'
import { sameJson } from './same-json.ts'

export const REPLICA_SETS = typedResource<ReplicaSet>('apps', 'replicasets')
export const REPLICA_SET: GroupVersionKind = { group: 'apps', version: 'v1', kind: 'ReplicaSet' }
export const REPLICATION_CONTROLLERS = typedResource<ReplicationController>('', 'replicationcontrollers')
export const REPLICATION_CONTROLLER: GroupVersionKind = { group: '', version: 'v1', kind: 'ReplicationController' }

/** A resource with a number of pods, and its view as a ReplicaSet. */
interface Replicating<O extends ReplicaSet | ReplicationController> {
  readonly resource: TypedResource<O>
  readonly kind: GroupVersionKind
  readonly component: string
  /** Whether the status has terminatingReplicas. */
  readonly countsTerminating: boolean
  asReplicaSet(object: O): ReplicaSet
}

export const replicaSetController = replicating({
  resource: REPLICA_SETS,
  kind: REPLICA_SET,
  component: 'replicaset-controller',
  countsTerminating: true,
  asReplicaSet: (set) => set,
})

export const replicationController = replicating({
  resource: REPLICATION_CONTROLLERS,
  kind: REPLICATION_CONTROLLER,
  component: 'replication-controller',
  countsTerminating: false,
  asReplicaSet: ({ spec, ...object }) => ({
    ...object,
    spec: { ...spec, selector: selectorOf(spec?.selector) },
  }),
})

export const selectorOf = (matchLabels: Readonly<Record<string, string>> | undefined): LabelSelector =>
  matchLabels === undefined ? {} : { matchLabels: { ...matchLabels } }

function replicating<O extends ReplicaSet | ReplicationController>(type: Replicating<O>): Controller {
  return {
    async reconcile(key, context) {
      const [namespace, name] = keyParts(key)
      const clients = clientsetFor(context, type.component)
      const sets = clients.resource(type.resource, namespace)
      const found = await sets.get(name)
      const set = found && type.asReplicaSet(found)
      if (found === undefined || set?.spec?.selector === undefined) return undefined
      const events = new EventRecorder(clients, type.component, context.now)
      const { gates } = settingsOf(context.env)
      const ref = controllerRefTo(set, type.kind)
      const wanted = set.spec.replicas ?? 1
      const pods = await dependentsOf(clients, PODS, set, ref, set, {
        shared: true,
        claimable: isActive,
        isMissing: async (owned) => owned.length < wanted || (await filtered(owned, isActive)).length < wanted,
      })
      const active = await filtered(pods, isActive)
      let failure: StatusError | undefined
      const change = set.metadata.deletionTimestamp === undefined ? wanted - active.length : 0
      const control = new PodControl(clients, events)
      try {
        if (change > 0) await createPods(control, set, ref, Math.min(change, BURST))
        if (change < 0) {
          const related = await podsOfFamily(clients, type.resource, set, pods)
          const costs = gates.enabled('PodDeletionCost')
          const going = podsToDelete(active, related, Math.min(-change, BURST), context.now(), costs)
          await inTurns(going, (pod) => control.delete(pod, set, pod), context.budget)
        }
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        failure = error
      }
      const now = context.now()
      const countsTerminating = type.countsTerminating && gates.enabled('DeploymentReplicaSetTerminatingReplicas')
      const leaving = countsTerminating ? await filtered(pods, isLeaving) : undefined
      const status = await planned(active, () =>
        replicaSetStatus(set, { active, leaving }, failure?.message, now, timeText(now)),
      )
      if (!sameJson(status, set.status)) await sets.putStatus({ ...found, status })
      if (wanted === 0 && pods.length === 0 && leaving === undefined) tellDeployment(context, set)
      if (failure !== undefined) throw failure
      const { minReadySeconds = 0 } = set.spec
      return minReadySeconds === 0 ? undefined : untilNextAvailable(active, minReadySeconds, now)
    },
  }
}

/** A Deployment may wait for the end of the last pod. A status that does not count such pods does not tell it. */
function tellDeployment(context: ControllerContext, set: ReplicaSet): void {
  const owner = controllerRefOf(set)
  if (owner?.kind === 'Deployment') context.later('deployment', `${set.metadata.namespace}/${owner.name}`, 0)
}

function createPods(control: PodControl, set: ReplicaSet, ref: OwnerReference, count: number): Promise<void> {
  const pod = podFromTemplate(set.spec?.template, set, ref)
  return slowStart(count, () => control.create(pod, set), control.budget)
}

/** The pods of the set and of the other ReplicaSets of its Deployment. */
async function podsOfFamily(
  clients: Clientset,
  resource: TypedResource<ReplicaSet | ReplicationController>,
  set: ReplicaSet,
  own: readonly Pod[],
): Promise<readonly Pod[]> {
  const owner = controllerRefOf(set)
  if (owner?.uid === undefined) return own
  const { namespace } = set.metadata
  const siblings = await clients.resource(resource, namespace).list({ owner: owner.uid })
  const others = siblings.filter(({ metadata, status }) => metadata.uid !== set.metadata.uid && status?.replicas)
  const theirs = await Promise.all(
    others.map(({ metadata }) => clients.resource(PODS, namespace).list({ owner: metadata.uid ?? '' })),
  )
  return [...own, ...theirs.flat()]
}
