/**
 * Evicts pods from nodes whose NoExecute taints they do not tolerate, or no longer tolerate (kube-controller-manager's
 * taint-eviction-controller). Key: the node. Time counts from when the controller first saw the taints, or from when
 * the pod was bound if that is later.
 */
import type { Node, Pod, Taint, Toleration } from '../../api/core/v1.ts'
import { leastOf, mostOf } from '../../base/extremes.ts'
import type { KubeObject } from '../../api/object.ts'
import { durationOf } from '../../go/duration.ts'
import { parseStored } from '../../json/parse-json.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'
import { setPodCondition } from '../../registry/core/pods/pod-conditions.ts'
import type { Clientset } from '../client/clientset.ts'
import { clientsetFor, typedResource } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { inTurns } from '../work/in-turns.ts'
import { isRefusal } from '../work/refusal.ts'
import { unlessGone } from '../work/unless-gone.ts'
import { isNoExecute, TaintedPlaces } from './tainted-places.ts'
import { logError } from '../../log/log.ts'
import { tolerates } from '../scheduling/taints.ts'
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
    const pods = node === undefined ? [] : await clients.resource(PODS).list({ fieldSelector: `spec.nodeName=${name}` })
    const events = new EventRecorder(clients, COMPONENT, context.now)
    const before = known === undefined ? [] : (parseStored(known.record) as unknown as Taint[]) // written below
    for (const pod of pods)
      if (isTimed(timeLeft(before, pod)) && timeLeft(taints, pod) === Infinity)
        await events.normal(
          reference(pod),
          REASON,
          `Cancelling deletion of Pod ${pod.metadata.namespace}/${pod.metadata.name}`,
        )
    if (taints.length === 0) {
      context.sightings.set(key, undefined)
      return undefined
    }
    const record = JSON.stringify(taints)
    const time = known?.time ?? context.now().getTime()
    if (known?.record !== record) context.sightings.set(key, { record, time })
    const waits: number[] = []
    await inTurns(
      pods,
      async (pod) => {
        const left = mostOf([time, boundAt(pod)]) + timeLeft(taints, pod) - context.now().getTime()
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

/** Whether the pod tolerates the taints for a limited time. */
const isTimed = (left: number): boolean => left > 0 && left !== Infinity

/** Milliseconds for which the pod tolerates all of the taints. */
function timeLeft(taints: readonly Taint[], { spec }: Pod): number {
  const used: Toleration[] = []
  for (const taint of taints) {
    // few: the taints of one node, the tolerations of one pod
    const found = (spec?.tolerations ?? []).find((toleration) => tolerates(toleration, taint))
    if (found === undefined) return 0
    used.push(found)
  }
  let least: number | bigint = Infinity
  for (const { tolerationSeconds: seconds = Infinity } of used) if (seconds < least) least = seconds
  if (least === Infinity || least <= 0) return Number(least)
  const left = durationOf(least)
  // more seconds than a Duration can hold are no limit
  return left < 0 ? Infinity : left
}

function boundAt({ metadata, status }: KubeObject & Pod): number {
  const bound = status?.conditions?.find(({ type }) => type === 'PodScheduled')?.lastTransitionTime
  return Date.parse(bound ?? metadata.creationTimestamp ?? '') || 0
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
