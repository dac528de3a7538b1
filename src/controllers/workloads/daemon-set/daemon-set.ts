/**
 * Runs a pod on every eligible node (kube-controller-manager's daemonset controller). Key: NAMESPACE/NAME. A changed
 * node queues `daemon-set-node`, whose key is the node's name.
 */
import { filtered, inTurns, PLANNED, planned } from '../../work/in-turns.ts'
import { leastOf } from '../../../base/extremes.ts'
import type { DaemonSet, DaemonSetStatus } from '../../../api/apps/v1.ts'
import type { Node, Pod } from '../../../api/core/v1.ts'
import { ownValue } from '../../../base/own.ts'
import { eachPart, kept } from '../../../base/parts.ts'
import type { Clientset } from '../../client/clientset.ts'
import { clientsetFor, typedResource } from '../../client/clientset.ts'
import type { Controller } from '../../controller.ts'
import { untilRemoval } from './back-off.ts'
import { DAEMON_SET, DAEMON_SETS, cleanUpHistory, daemonHistory, hashOf } from './history.ts'
import { eligible, isUpdated, templateFor } from './nodes.ts'
import type { Changes, Daemons } from './pods.ts'
import { olderPodFirst, placement, podsByNode, rollout } from './pods.ts'
import { EventRecorder } from '../events/events.ts'
import { keyParts } from '../key.ts'
import { controllerRefTo, dependentsOf, podFromTemplate, PodControl, PODS, slowStart } from '../pods/pod-control.ts'
import { isAvailable, isReady } from '../pods/pod-state.ts'
import { untilNextAvailable } from '../replicas.ts'

const NODES = typedResource<Node>('', 'nodes')
export const DAEMON_SET_COMPONENT = 'daemon-set-controller'
/** The component's name in Events, which differs from the controller's name. */
const SOURCE = 'daemonset-controller'
/** Pods that one reconciliation creates or deletes. */
const BURST = 250

export const daemonSetController: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, DAEMON_SET_COMPONENT)
    const sets = clients.resource(DAEMON_SETS, namespace)
    const set = await sets.get(name)
    if (set?.spec?.selector === undefined) return undefined
    const events = new EventRecorder(clients, SOURCE, context.now)
    const { matchLabels = {}, matchExpressions = [] } = set.spec.selector
    if (Object.keys(matchLabels).length === 0 && matchExpressions.length === 0) {
      const message = 'This daemon set is selecting all pods. A non-empty selector is required.'
      await events.warning(set, 'SelectingAll', message)
      return undefined
    }
    // the revisions may be gone already, and the status depends on them
    if (set.metadata.deletionTimestamp !== undefined) return undefined
    const nodes = await clients.resource(NODES).list({ shared: true })
    const pods = await dependentsOf(clients, PODS, set, controllerRefTo(set, DAEMON_SET), set, {
      isMissing: (owned) => lacksPods(set, nodes, owned),
    })
    const { current, old } = await daemonHistory(clients, set, pods)
    const now = context.now()
    const byNode = await planned(pods, () => podsByNode(pods))
    const daemons: Daemons = { set, hash: hashOf(current), nodes, pods: byNode, now }
    const control = new PodControl(clients, events)
    const { wait, failure } = await keepPods(daemons, control, events, context.tenant.uid)
    const status = await planned(nodes, () => statusOf(daemons))
    if (isNews(status, set))
      await sets.updateStatusWithRetries(set, (object) => {
        object.status = { ...object.status, ...status }
      })
    if (failure !== undefined) throw failure.reason
    await cleanUpHistory(clients, set, pods, old)
    const { minReadySeconds = 0 } = set.spec
    const untilReady = minReadySeconds === 0 ? undefined : untilNextAvailable(pods, minReadySeconds, now)
    const waits = [wait, untilReady].filter((time) => time !== undefined)
    return waits.length === 0 ? undefined : leastOf(waits)
  },
}

/** Whether a node that is to have a pod has none. */
async function lacksPods(set: DaemonSet, nodes: readonly Node[], pods: readonly Pod[]): Promise<boolean> {
  const there = await planned(pods, () => podsByNode(pods))
  const lacking = await filtered(nodes, (node) => !there.has(node.metadata.name ?? '') && eligible(set, node).runs)
  return lacking.length > 0
}

interface Kept {
  /** Milliseconds until a finished pod may be deleted. */
  readonly wait?: number
  readonly failure?: { readonly reason: unknown }
}

/** Places pods; continues a rollout only when every node has its pods. The writes queue the next reconciliation. */
async function keepPods(daemons: Daemons, control: PodControl, events: EventRecorder, tenant: string): Promise<Kept> {
  const waits: number[] = []
  const found: Pod[] = []
  const over = (node: string, pod: Pod): boolean => {
    const wait = pod.status?.phase === 'Failed' ? untilRemoval(tenant, daemons, node) : 0
    if (wait > 0) waits.push(wait)
    else found.push(pod)
    return wait === 0
  }
  const { nodes } = daemons
  const placed = await planned(nodes, () => placement(daemons, over))
  for (const pod of found) await events.record(daemons.set, foundOver(pod))
  const wait = waits.length === 0 ? {} : { wait: leastOf(waits) }
  try {
    if (await write(daemons, placed, control)) return wait
    if (daemons.set.spec?.updateStrategy?.type === 'RollingUpdate')
      await write(daemons, await planned(nodes, () => rollout(daemons)), control)
    return wait
  } catch (reason) {
    return { ...wait, failure: { reason } }
  }
}

function foundOver({ metadata: { namespace, name }, spec, status }: Pod) {
  const where = `daemon pod ${namespace}/${name} on node ${spec?.nodeName}`
  return status?.phase === 'Failed'
    ? ({ type: 'Warning', reason: 'FailedDaemonPod', message: `Found failed ${where}, will try to kill it` } as const)
    : ({
        type: 'Normal',
        reason: 'SucceededDaemonPod',
        message: `Found succeeded ${where}, will try to delete it`,
      } as const)
}

/** @returns whether the plan had changes */
async function write({ set, hash }: Daemons, { create, remove }: Changes, control: PodControl): Promise<boolean> {
  const ref = controllerRefTo(set, DAEMON_SET)
  const createAt = (at: number) => {
    const template = templateFor(set, hash, create[at] ?? '')
    return control.create(podFromTemplate(template, set, ref), set)
  }
  await slowStart(Math.min(create.length, BURST), createAt, control.budget)
  await inTurns(remove.slice(0, BURST), (pod) => control.delete(pod, set), control.budget)
  return create.length > 0 || remove.length > 0
}

function statusOf({ set, hash, nodes, pods, now }: Daemons): DaemonSetStatus {
  const count = kept(nodes, () => ({ wanted: 0, current: 0, misplaced: 0, ready: 0, updated: 0, available: 0 }))
  const look = (node: Node): void => {
    const there = pods.get(node.metadata.name ?? '') ?? []
    if (!eligible(set, node).runs) {
      if (there.length > 0) count.misplaced++
      return
    }
    count.wanted++
    const [oldest] = there.toSorted(olderPodFirst)
    if (oldest === undefined) return
    count.current++
    if (isUpdated(set, oldest, hash)) count.updated++
    if (isReady(oldest)) count.ready++
    if (isAvailable(oldest, set.spec?.minReadySeconds ?? 0, now)) count.available++
  }
  eachPart(nodes, look, PLANNED)
  return {
    observedGeneration: set.metadata.generation ?? 0,
    desiredNumberScheduled: count.wanted,
    currentNumberScheduled: count.current,
    numberMisscheduled: count.misplaced,
    numberReady: count.ready,
    updatedNumberScheduled: count.updated,
    numberAvailable: count.available,
    numberUnavailable: count.wanted - count.available,
  }
}

const isNews = ({ observedGeneration = 0, ...counts }: DaemonSetStatus, { status = {} }: DaemonSet): boolean =>
  (status.observedGeneration ?? 0) < observedGeneration ||
  // all counts above are numbers
  Object.entries(counts).some(([name, count]) => (ownValue(status as Record<string, unknown>, name) ?? 0) !== count)

/** Queues the DaemonSets that a changed node concerns. */
export const daemonSetNodes: Controller = {
  async reconcile(name, context) {
    const clients = clientsetFor(context, DAEMON_SET_COMPONENT)
    let state: OfNode | undefined
    for await (const set of clients.resource(DAEMON_SETS).each()) {
      const { node, controllers } = (state ??= await stateOf(clients, name))
      const key = `${set.metadata.namespace}/${set.metadata.name}`
      if (node === undefined || isNewsTo(set, node, controllers.has(set.metadata.uid ?? '')))
        context.later('daemon-set', key, 0)
    }
    return undefined
  },
}

interface OfNode {
  readonly node: Node | undefined
  /** The uids of the controllers of its pods. */
  readonly controllers: ReadonlySet<string>
}

async function stateOf(clients: Clientset, name: string): Promise<OfNode> {
  const node = await clients.resource(NODES).get(name)
  if (node === undefined) return { node, controllers: new Set() }
  const controllers = new Set<string>()
  for await (const { metadata } of clients.resource(PODS).each({ fields: { 'spec.nodeName': name } }))
    for (const { uid = '', controller } of metadata.ownerReferences ?? []) if (controller === true) controllers.add(uid)
  return { node, controllers }
}

/** True also where an existing pod stays on a node that would get no new one: the status counts such a pod apart. */
const isNewsTo = (set: DaemonSet, node: Node, isThere: boolean): boolean =>
  eligible(set, node).runs !== isThere || (isThere && (set.status?.numberMisscheduled ?? 0) > 0)
