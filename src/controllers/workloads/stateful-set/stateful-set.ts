/**
 * Runs pods with an ordinal, a name and claims of their own (kube-controller-manager's statefulset controller). Key:
 * NAMESPACE/NAME. Each reconciliation goes as far as it can without waiting. A change of the pod that it waits for
 * queues the next one.
 */
import type { StatefulSet } from '../../../api/apps/v1.ts'
import type { Pod } from '../../../api/core/v1.ts'
import { settingsOf } from '../../../settings.ts'
import { clientsetFor, typedResource } from '../../client/clientset.ts'
import type { Controller } from '../../controller.ts'
import { EventRecorder } from '../events/events.ts'
import { keyParts } from '../key.ts'
import { controllerRefTo, dependentsOf, PODS } from '../pods/pod-control.ts'
import { untilNextAvailable } from '../replicas.ts'
import { StatefulClaims } from './claims.ts'
import { isInRange, isMemberOf, STATEFUL_SET } from './pods.ts'
import { statefulRevisions, truncateHistory } from './revisions.ts'
import { StatefulSetStep } from './step.ts'
import { isNews, statefulSetStatus } from './status.ts'
import { revisionsOf } from '../templates/revisions.ts'

export const STATEFUL_SETS = typedResource<StatefulSet>('apps', 'statefulsets')
export const STATEFUL_SET_COMPONENT = 'statefulset-controller'

export const statefulSetController: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, STATEFUL_SET_COMPONENT)
    const sets = clients.resource(STATEFUL_SETS, namespace)
    const set = await sets.get(name)
    if (set?.spec?.selector === undefined) return undefined
    const ref = controllerRefTo(set, STATEFUL_SET)
    const known = await revisionsOf(clients, set, ref)
    const pods = await dependentsOf(clients, PODS, set, ref, set, {
      belongs: (pod: Pod) => isMemberOf(set, pod),
      isMissing: (owned) => owned.filter((pod) => isInRange(set, pod)).length < (set.spec?.replicas ?? 1),
    })
    const revisions = await statefulRevisions(clients, set, known)
    const events = new EventRecorder(clients, STATEFUL_SET_COMPONENT, context.now)
    const now = context.now()
    const step = new StatefulSetStep({
      set,
      revisions,
      claims: new StatefulClaims(clients, events, set),
      pods: clients.resource(PODS, namespace),
      events,
      now,
      budget: context.budget,
      maxUnavailable: settingsOf(context.env).gates.enabled('MaxUnavailableStatefulSet'),
    })
    let failure: unknown
    if (set.metadata.deletionTimestamp === undefined)
      await step.run(pods).catch((error: unknown) => {
        failure = error ?? new Error('unknown')
      })
    const status = statefulSetStatus(set, pods, revisions, step.leaving, now)
    if (isNews(status, set.status)) await sets.updateStatusWithRetries(set, (object) => void (object.status = status))
    await truncateHistory(clients, set, pods, known, revisions)
    if (failure !== undefined) throw failure
    const { minReadySeconds = 0 } = set.spec
    return minReadySeconds === 0 ? undefined : untilNextAvailable(pods, minReadySeconds, now)
  },
}
