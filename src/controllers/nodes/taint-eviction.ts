/**
 * Evicts pods from nodes whose NoExecute taints they do not tolerate, or no longer tolerate (kube-controller-manager's
 * taint-eviction-controller). Key: the node. Time counts from when the controller saw the taint that limits the time of
 * the pod, or from when the pod was bound if that is later.
 */
import type { Node, Pod } from '../../api/core/v1.ts'
import { leastOf } from '../../base/extremes.ts'
import type { KubeObject } from '../../api/object.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'
import { setPodCondition } from '../../registry/core/pods/pod-conditions.ts'
import type { Clientset } from '../client/clientset.ts'
import { podName } from '../client/pod-head.ts'
import { clientsetFor, typedResource } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { inTurns } from '../work/in-turns.ts'
import { isRefusal } from '../work/refusal.ts'
import { unlessGone } from '../work/unless-gone.ts'
import { historyOf, leavesAt, sightingOf, withTaints } from './taint-history.ts'
import { isNoExecute, TaintedPlaces } from './tainted-places.ts'
import { logError } from '../../log/log.ts'
import { EventRecorder } from '../workloads/events/events.ts'
import { PODS } from '../workloads/pods/pod-control.ts'

const NODES = typedResource<KubeObject & Node>('', 'nodes')
const COMPONENT = 'taint-eviction-controller'
const REASON = 'TaintManagerEviction'
const TARGET = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
} as const
/** Milliseconds until the next try to evict a pod after the API refused that. Other pods do not wait meanwhile. */
const REFUSED_MS = 300_000
/** The most names of tainted nodes that the controller keeps between two runs. */
const MOST = 10_000

const states = perTenant(
  'forgotten',
  () =>
    new TaintedPlaces<KubeObject & Node>(MOST, ({ metadata, spec }) =>
      spec?.taints?.some(isNoExecute) === true ? metadata.name : undefined,
    ),
)

export const taintEviction: Controller = {
  async reconcile(name, context) {
    const clients = clientsetFor(context, 'node-controller')
    const key = `taints/${name}` as const
    const known = context.sightings.get(key)
    if (known === undefined && !(await mayBeTainted(name, clients, context))) return undefined
    const node = await clients.resource(NODES).get(name)
    const taints = (node?.spec?.taints ?? []).filter(isNoExecute)
    if (taints.length === 0 && known === undefined) return undefined
    const events = new EventRecorder(clients, COMPONENT, context.now)
    const before = historyOf(known)
    const now = context.now().getTime()
    const history = taints.length === 0 ? [] : withTaints(before, taints, now)
    const seen = (pod: KubeObject & Pod) => [podName(pod), leavesAt(before, pod), leavesAt(history, pod)] as const
    const onNode = clients.resource(PODS)
    const pods = node === undefined ? [] : await onNode.eachKept({ fieldSelector: `spec.nodeName=${name}` }, seen)
    // first, because an Event tells of each change once
    if (history !== before) context.sightings.set(key, sightingOf(history))
    const waits: number[] = []
    await inTurns(
      pods,
      async ([pod, planned, leaves]) => {
        const isTakenBack = history !== before && typeof planned === 'number' && typeof leaves !== 'number'
        if (isTakenBack && pod.metadata.deletionTimestamp === undefined)
          await events.normal(
            reference(pod),
            REASON,
            `Cancelling deletion of Pod ${pod.metadata.namespace}/${pod.metadata.name}`,
          )
        if (leaves === undefined) return
        const left = leaves === 'now' ? 0 : leaves - context.now().getTime()
        if (left > 0) waits.push(left)
        else if (!(await evict(clients, events, pod, context))) waits.push(REFUSED_MS)
      },
      context.budget,
    )
    const next = leastOf([...waits, Infinity])
    return next === Infinity ? undefined : next
  },
}

/**
 * Few nodes have NoExecute taints, but the controller checks each node that gets a pod. So a batch of work reads the
 * changes of all nodes once.
 */
async function mayBeTainted(name: string, clients: Clientset, context: ControllerContext): Promise<boolean> {
  const tainted = states(context.tenant)
  await context.once('nodes that changed', () => tainted.look((at) => clients.resource(NODES).changes(at)))
  return tainted.mayBe(name)
}

/** The Events name the pod without its uid, as those of kube-controller-manager. */
const reference = ({ metadata: { namespace, name } }: KubeObject): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) },
})

/** @returns false: the API refused it */
async function evict(
  clients: Clientset,
  events: EventRecorder,
  pod: KubeObject & Pod,
  { now }: ControllerContext,
): Promise<boolean> {
  const { namespace = '', name = '', deletionTimestamp } = pod.metadata
  if (deletionTimestamp !== undefined) return true
  const pods = clients.resource(PODS, namespace)
  await events.normal(reference(pod), REASON, `Marking for deletion Pod ${namespace}/${name}`)
  try {
    await pods.updateStatusWithRetries(pod, (live) => {
      const { generation: observedGeneration } = live.metadata
      setPodCondition(live, { ...TARGET, ...(observedGeneration === undefined ? {} : { observedGeneration }) }, now())
    })
    await pods.delete(pod)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const isThere = await unlessGone(pods, pod, error).then(
      () => false,
      () => true,
    )
    // the pod is gone, or a new pod has its name: the controller checks a new pod separately
    if (!isThere) return true
    logError('a pod could not be evicted', { pod: `${namespace}/${name}`, error })
    return false
  }
  return true
}
