/**
 * Finds nodes for pods that have none (kube-scheduler's default profile). One look is for all that wait: pods of higher
 * priority first, then the older ones. It begins again when a pod or a node changes in a way that could help.
 */
import type { Namespace, Node, Pod } from '../../api/core/v1.ts'
import type { Event } from '../../api/events/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import { bindPod } from '../../registry/core/bind-pod.ts'
import { turnOfOthers } from '../../api/slices.ts'
import { timeText } from '../../schema/time.ts'
import type { Clientset } from '../clientset.ts'
import { clientsetFor, typedResource } from '../clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { PODS } from '../workloads/pod-control.ts'
import { isFinished, podCondition } from '../workloads/pod-state.ts'
import { newCycle } from './filters.ts'
import { NodeState } from './node-state.ts'
import { choose, failureMessage } from './schedule.ts'

const NODES = typedResource<Node>('', 'nodes')
const NAMESPACES = typedResource<Namespace>('', 'namespaces')
const EVENTS = typedResource<KubeObject & Event>('', 'events')
const NAME = 'default-scheduler'
/** Pods that are bound in one look; the others are for the next, so that other controllers come between. */
const MOST = 250
/** Pods that are bound side by side. */
const TOGETHER = 16

export const schedulerController: Controller = {
  async reconcile(_, context) {
    const clients = clientsetFor(context, NAME)
    const pods = clients.resource(PODS)
    const waiting = (await pods.list({ fieldSelector: `spec.nodeName=,spec.schedulerName=${NAME}` })).filter(isWaiting)
    if (waiting.length === 0) return undefined
    const nodes = (await clients.resource(NODES).list()).filter(isThere).map((node) => new NodeState(node))
    const byName = new Map(nodes.map((node) => [node.name, node]))
    for await (const pod of pods.each({ fieldSelector: 'spec.nodeName!=' }))
      if (!isFinished(pod)) byName.get(pod.spec?.nodeName ?? '')?.add(pod)
    const namespaces = new Map(
      (await clients.resource(NAMESPACES).list()).map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]),
    )
    waiting.sort(moreUrgent)
    let writes: Promise<void>[] = []
    let bound = 0
    let seen = 0
    for (const pod of waiting) {
      const cycle = newCycle(pod, nodes, namespaces)
      const choice = choose(cycle)
      if ('node' in choice) {
        choice.node.add(pod, cycle.needs)
        writes.push(bind(clients, pod, choice.node.name, context))
        bound++
      } else {
        writes.push(report(clients, pod, failureMessage(choice.refusals), context))
      }
      if (++seen % TOGETHER !== 0) continue
      await Promise.all(writes)
      writes = []
      // what fits nowhere waits for a change, and is no reason to look again
      if (bound >= MOST) return 0
      await turnOfOthers()
    }
    await Promise.all(writes)
    return undefined
  },
}

const isThere = ({ metadata }: Node): boolean => metadata.deletionTimestamp === undefined

const isWaiting = (pod: Pod): boolean =>
  pod.metadata.deletionTimestamp === undefined && (pod.spec?.schedulingGates ?? []).length === 0 && !isFinished(pod)

const moreUrgent = (a: Pod, b: Pod): number =>
  (b.spec?.priority ?? 0) - (a.spec?.priority ?? 0) ||
  Date.parse(a.metadata.creationTimestamp ?? '') - Date.parse(b.metadata.creationTimestamp ?? '')

async function bind(clients: Clientset, pod: Pod, node: string, context: ControllerContext): Promise<void> {
  const { namespace = '', name = '' } = pod.metadata
  try {
    const scope = clients.resource(PODS, namespace).call(name, 'binding')
    await bindPod(
      scope,
      { metadata: { name, uid: pod.metadata.uid ?? '' }, target: { kind: 'Node', name: node } },
      false,
    )
    await tell(clients, pod, context, {
      type: 'Normal',
      reason: 'Scheduled',
      action: 'Binding',
      note: `Successfully assigned ${namespace}/${name} to ${node}`,
    })
  } catch (error) {
    ignoreOvertaken(error)
  }
}

/** Says it once: the same again is no news. */
async function report(clients: Clientset, pod: Pod, message: string, context: ControllerContext): Promise<void> {
  const known = podCondition(pod, 'PodScheduled')
  if (known?.status === 'False' && known.reason === 'Unschedulable' && known.message === message) return
  const { namespace, name = '' } = pod.metadata
  const time = timeText(context.now())
  try {
    await clients.resource(PODS, namespace).updateStatusWithRetries(name, ({ status = {} }) => {
      const others = (status.conditions ?? []).filter(({ type }) => type !== 'PodScheduled')
      const since = known?.status === 'False' ? (known.lastTransitionTime ?? time) : time
      status.conditions = [
        ...others,
        { type: 'PodScheduled', status: 'False', lastTransitionTime: since, reason: 'Unschedulable', message },
      ]
    })
    await tell(clients, pod, context, {
      type: 'Warning',
      reason: 'FailedScheduling',
      action: 'Scheduling',
      note: message,
    })
  } catch (error) {
    ignoreOvertaken(error)
  }
}

interface News {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly action: string
  readonly note: string
}

/** Undone writes of a pod that changed or went: what waits is looked at again. */
function ignoreOvertaken(error: unknown): void {
  if (!(error instanceof StatusError) || error.code >= 500) throw error
}

/** An Event in the form of events.k8s.io, as kube-scheduler writes them. */
async function tell(clients: Clientset, pod: Pod, context: ControllerContext, news: News): Promise<void> {
  const { namespace = '', name = '', uid, resourceVersion } = pod.metadata
  const now = context.now()
  await clients.resource(EVENTS, namespace).create({
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: `${name}.${(BigInt(now.getTime()) * 1_000_000n).toString(16)}`, namespace },
    involvedObject: { kind: 'Pod', apiVersion: 'v1', namespace, name, uid, resourceVersion },
    eventTime: `${now.toISOString().slice(0, -1)}000Z`,
    reportingComponent: NAME,
    reportingInstance: NAME,
    action: news.action,
    reason: news.reason,
    message: news.note,
    type: news.type,
    source: {},
  } as unknown as KubeObject & Event) // in the form of core/v1, which is the stored one
}
