/**
 * Removes the finalizer `batch.kubernetes.io/job-tracking` of pods that no Job will count any more. Otherwise their
 * deletion would wait forever (the orphan queue of kube-controller-manager's job controller).
 */
import type { Job } from '../../../api/batch/v1.ts'
import type { Pod } from '../../../api/core/v1.ts'
import { controllerRefOf } from '../../../registry/work/work.ts'
import type { Clientset } from '../../client/clientset.ts'
import { clientsetFor } from '../../client/clientset.ts'
import type { Controller } from '../../controller.ts'
import { inTurns } from '../../work/in-turns.ts'
import { unlessGone } from '../../work/unless-gone.ts'
import { JOB, JOB_COMPONENT, JOBS, OURS } from './kind.ts'
import { isOver, isTracked, TRACKING } from './state.ts'
import { keyParts } from '../key.ts'
import { PODS } from '../pods/pod-control.ts'

/** Key: NAMESPACE/NAME of a pod that is being deleted, or that has no controller. */
export const orphanedJobPod: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, JOB_COMPONENT)
    const pod = await clients.resource(PODS, namespace).get(name)
    if (pod !== undefined) await untrackIfOrphan(clients, pod)
    return undefined
  },
}

/** Key: NAMESPACE/UID of a Job that is gone. Another Job may have its name. */
export const goneJob: Controller = {
  async reconcile(key, context) {
    const [namespace, owner] = keyParts(key)
    const clients = clientsetFor(context, JOB_COMPONENT)
    const pods = await clients.resource(PODS, namespace).list({ owner })
    await inTurns(pods, (pod) => untrackIfOrphan(clients, pod), clients.budget)
    return undefined
  },
}

async function untrackIfOrphan(clients: Clientset, pod: Pod): Promise<void> {
  if (!isTracked(pod)) return
  const owner = controllerRefOf(pod)
  if (owner !== undefined) {
    if (owner.kind !== JOB.kind || owner.apiVersion !== `${JOB.group}/${JOB.version}`) return
    const job: Job | undefined = await clients.resource(JOBS, pod.metadata.namespace).get(owner.name ?? '')
    const isIts = job?.metadata.uid === owner.uid
    if (job !== undefined && isIts && ((job.spec?.managedBy ?? OURS) !== OURS || !isOver(job))) return
  }
  await untrack(clients, pod)
}

/** Removes the tracking finalizer of a pod. No Job counts the pod from then on. */
export async function untrack(clients: Clientset, pod: Pod): Promise<void> {
  if (!isTracked(pod)) return
  const body = { metadata: { '$deleteFromPrimitiveList/finalizers': [TRACKING] } }
  const pods = clients.resource(PODS, pod.metadata.namespace)
  // a pod that keeps its finalizer would be counted again
  await pods
    .patch(pod, 'application/strategic-merge-patch+json', body)
    .catch((error: unknown) => unlessGone(pods, pod, error))
}
