/**
 * Deletes pods that no kubelet will ever end (kube-controller-manager's pod garbage collector). Key: a node that may
 * have left pods, or NAMESPACE/NAME of a deleted pod that never had a node. It does not limit terminated pods.
 */
import type { Node, Pod } from '../../../api/core/v1.ts'
import { setPodCondition } from '../../../registry/core/pods/pod-conditions.ts'
import { afterAWhile } from '../../work/after-a-while.ts'
import type { Clientset } from '../../client/clientset.ts'
import { clientsetFor, typedResource } from '../../client/clientset.ts'
import type { Controller } from '../../controller.ts'
import { podName } from '../../client/pod-head.ts'
import { inTurns } from '../../work/in-turns.ts'
import { unlessGone } from '../../work/unless-gone.ts'
import { keyParts } from '../key.ts'
import { PODS } from './pod-control.ts'
import { isFinished, isTerminating } from './pod-state.ts'

const NODES = typedResource<Node>('', 'nodes')
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service'
/** How long a missing node may come back to its pods. */
const QUARANTINE_MS = 40_000
/** Milliseconds between two reconciliations of an out-of-service node that has pods. */
const AGAIN_MS = 20_000

export const goneNode = afterAWhile('pod-gc', QUARANTINE_MS)

export const podGarbageCollector: Controller = {
  async reconcile(key, context) {
    const clients = clientsetFor(context, 'pod-garbage-collector')
    const now = context.now()
    if (!key.includes('/')) return ofNode(clients, key, now)
    const [namespace, name] = keyParts(key)
    const pod = await clients.resource(PODS, namespace).get(name)
    if (pod !== undefined && isTerminating(pod) && !pod.spec?.nodeName) await end(clients, pod, now)
    return undefined
  },
}

async function ofNode(clients: Clientset, name: string, now: Date): Promise<number | undefined> {
  const node = await clients.resource(NODES).get(name)
  if (node !== undefined && !isOutOfService(node)) return undefined
  const pods = await clients.resource(PODS).eachKept({ fields: { 'spec.nodeName': name } }, podName)
  // a pod that the API refuses to end holds no other back
  await inTurns(
    pods,
    async (pod) => {
      if (node === undefined) await end(clients, pod, now, 'PodGC: node no longer exists')
      else if (isTerminating(pod)) await end(clients, pod, now)
    },
    clients.budget,
  )
  return node !== undefined && pods.length > 0 ? AGAIN_MS : undefined
}

/** Whether a user tainted an unready node as out of service. */
function isOutOfService({ spec, status }: Node): boolean {
  const isReady = status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True')
  return isReady !== true && spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) === true
}

/**
 * Marks the pod Failed, for controllers that count their pods, and then deletes it without grace period.
 * @param why the reason of the condition DisruptionTarget; undefined: the condition is not set
 */
async function end(clients: Clientset, pod: Pod, now: Date, why?: string): Promise<void> {
  const pods = clients.resource(PODS, pod.metadata.namespace)
  try {
    if (!isFinished(pod))
      await pods.updateStatusWithRetries(pod, (object) => {
        if (!isFinished(object)) fail(object, now, why)
      })
    await pods.delete(pod, { gracePeriodSeconds: 0 })
  } catch (error) {
    await unlessGone(pods, pod, error)
  }
}

function fail(pod: Pod, now: Date, why: string | undefined): void {
  const { generation } = pod.metadata
  const observed = generation === undefined ? {} : { observedGeneration: generation }
  pod.status = { ...pod.status, phase: 'Failed', ...observed }
  if (why === undefined) return
  setPodCondition(
    pod,
    { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC', message: why, ...observed },
    now,
  )
}
