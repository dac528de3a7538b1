/**
 * kube-controller-manager's node-lifecycle-controller. A node whose kubelet is silent becomes Unknown. The node's
 * taints follow its conditions, its labels under former names follow those under present names, and the pods of a
 * silent node are no longer ready. Key: the node. A heartbeat is a write of the node or of its Lease and brings this
 * work; an alarm ends the grace period. Simulated nodes have no heartbeats.
 */
import type { Lease } from '../../api/coordination/v1.ts'
import type { Node, NodeCondition, Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { eachPart, kept } from '../../base/parts.ts'
import { isSimulated } from '../../api/simulated-node.ts'
import { timeText } from '../../schema/time.ts'
import type { Clientset } from '../client/clientset.ts'
import { podName } from '../client/pod-head.ts'
import { clientsetFor, typedResource } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { inTurns, PLANNED, planned } from '../work/in-turns.ts'
import { EventRecorder } from '../workloads/events/events.ts'
import { PODS } from '../workloads/pods/pod-control.ts'
import { sameJson } from '../workloads/same-json.ts'
import { formerLabels } from './node-labels.ts'
import { executeTaint, hasExecuteTaint, readyOf, withExecuteTaint, withScheduleTaints } from './node-taints.ts'
import { evictionPause, NODE_EVERY_MS, zoneOf } from './zones.ts'

const NODES = typedResource<KubeObject & Node>('', 'nodes')
const LEASES = typedResource<KubeObject & Lease>('coordination.k8s.io', 'leases')
/** kube-controller-manager's --node-monitor-grace-period and --node-startup-grace-period. */
const GRACE_MS = 50_000
const STARTUP_GRACE_MS = 60_000
/** Conditions that only the kubelet reports. */
const KUBELETS: ReadonlySet<string> = new Set(['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'])

export const nodeLifecycle: Controller = {
  async reconcile(name, context) {
    const clients = clientsetFor(context, 'node-controller')
    const nodes = clients.resource(NODES)
    const node = await nodes.get(name)
    await tellComingAndGoing(clients, name, node, context)
    if (node === undefined) {
      context.sightings.set(`heartbeat/${name}`, undefined)
      return undefined
    }
    const left = isSimulated(node) ? undefined : await untilSilent(clients, node, context)
    const heard = left !== undefined && left <= 0 ? await becomeUnknown(clients, node, context) : node
    const pause = await taint(clients, heard, context)
    if (readyOf(heard) !== 'True') await stopEvictions(clients, context)
    if (isSilent(heard)) await podsNotReady(clients, heard, context)
    if (pause !== undefined) return pause
    return left !== undefined && left > 0 ? left : undefined
  },
}

/**
 * Writes the Events of a node that has come or gone. kube-controller-manager keeps in memory which nodes it has told,
 * so it tells each again when it starts. Kedge notes the uid, and tells each node once.
 */
async function tellComingAndGoing(
  clients: Clientset,
  name: string,
  node: KubeObject | undefined,
  { sightings, now }: ControllerContext,
): Promise<void> {
  const known = sightings.get(`node/${name}`)?.record
  const uid = node?.metadata.uid
  if (known === uid) return
  const events = new EventRecorder(clients, 'node-controller', now)
  const tell = (uid: string, reason: string, what: string): Promise<void> =>
    events.once({ kind: 'Node', apiVersion: 'v1', metadata: { name, uid } }, reason, `Node ${name} event: ${what}`)
  if (known !== undefined) await tell(known, 'RemovingNode', `Removing Node ${name} from Controller`)
  if (uid !== undefined) await tell(uid, 'RegisteredNode', `Registered Node ${name} in Controller`)
  sightings.set(`node/${name}`, uid === undefined ? undefined : { record: uid, time: now().getTime() })
}

/** Milliseconds until the grace period of the node ends. It counts from when this controller saw the last heartbeat. */
async function untilSilent(clients: Clientset, node: KubeObject & Node, context: ControllerContext): Promise<number> {
  const { name = '', creationTimestamp = '' } = node.metadata
  const key = `heartbeat/${name}` as const
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
  const lease = await clients.resource(LEASES, 'kube-node-lease').get(name)
  const record = JSON.stringify([ready?.lastHeartbeatTime, lease?.spec?.renewTime])
  const known = context.sightings.get(key)
  const now = context.now().getTime()
  const hasSaid = ready !== undefined || lease !== undefined
  const time = known?.record === record ? known.time : hasSaid ? now : Date.parse(creationTimestamp) || now
  if (known?.record !== record) context.sightings.set(key, { record, time })
  return time + (ready === undefined ? STARTUP_GRACE_MS : GRACE_MS) - now
}

/**
 * Whether the node is ready and its last heartbeat is recent. The controller handles nodes that fall silent together
 * one after the other, so a node may still be Ready when its heartbeat is overdue.
 */
function isWell(node: KubeObject & Node, { sightings, now }: ControllerContext): boolean {
  if (readyOf(node) !== 'True') return false
  const heard = sightings.get(`heartbeat/${node.metadata.name}`)?.time
  return heard === undefined || heard + GRACE_MS > now().getTime()
}

const isSilent = ({ status }: Node): boolean =>
  status?.conditions?.some(
    ({ type, reason = '' }) => type === 'Ready' && /^NodeStatus(?:Unknown|NeverUpdated)$/.test(reason),
  ) === true

async function becomeUnknown(clients: Clientset, node: KubeObject & Node, context: ControllerContext) {
  const now = timeText(context.now())
  const unknown = (conditions: readonly NodeCondition[]): NodeCondition[] => {
    const known = new Set(conditions.map(({ type }) => type))
    const changed = conditions.map((condition) =>
      !KUBELETS.has(condition.type ?? '') || condition.status === 'Unknown'
        ? condition
        : {
            ...condition,
            status: 'Unknown',
            reason: 'NodeStatusUnknown',
            message: 'Kubelet stopped posting node status.',
            lastTransitionTime: now,
          },
    )
    const added = [...KUBELETS]
      .filter((type) => !known.has(type))
      .map((type) => ({
        type,
        status: 'Unknown',
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
        lastHeartbeatTime: node.metadata.creationTimestamp,
        lastTransitionTime: now,
      }))
    return [...changed, ...added] as NodeCondition[] // a stored node has its creation time
  }
  const before = node.status?.conditions ?? []
  if (sameJson(unknown(before), before)) return node
  const changed = await clients.resource(NODES).updateStatusWithRetries(node, (live) => {
    live.status = { ...live.status, conditions: unknown(live.status?.conditions ?? []) }
  })
  if (readyOf(node) === 'True')
    await new EventRecorder(clients, 'node-controller', context.now).normal(
      node,
      'NodeNotReady',
      `Node ${node.metadata.name} status is now: NodeNotReady`,
    )
  return changed
}

/**
 * Whether the controller may evict the node now. `wait`: milliseconds until it may, if other nodes of the zone come
 * first.
 */
interface Turn {
  readonly isNow: boolean
  readonly wait?: number
}

const allNodes = (clients: Clientset, context: ControllerContext) =>
  context.once('all nodes', () => clients.resource(NODES).list({ shared: true }))

/** Whether any node is well. If none is, probably the network of this server is cut off. */
async function isAnyWell(clients: Clientset, context: ControllerContext): Promise<boolean> {
  const all = await allNodes(clients, context)
  return planned(all, () => {
    const found = kept(all, () => ({ isWell: false }))
    eachPart(all, (other) => void (found.isWell ||= isWell(other, context)), PLANNED)
    return found.isWell
  })
}

/** Takes back the evictions from all nodes when none is well. */
async function stopEvictions(clients: Clientset, context: ControllerContext): Promise<void> {
  await context.once('evictions to stop', async () => {
    if (await isAnyWell(clients, context)) return
    const all = await allNodes(clients, context)
    await planned(all, () => {
      const look = (other: Node): void => {
        if (hasExecuteTaint(other)) context.later('node-lifecycle', other.metadata.name ?? '', 0)
      }
      eachPart(all, look, PLANNED)
    })
  })
}

async function turnOf(clients: Clientset, node: KubeObject & Node, context: ControllerContext): Promise<Turn> {
  const zone = zoneOf(node)
  const now = context.now().getTime()
  const untilNext = (pause: number): number => (context.sightings.get(`eviction-zone/${zone}`)?.time ?? 0) + pause - now
  // No zone evicts faster than this, whatever its state. So of a thousand silent nodes only one lists all nodes.
  const early = untilNext(NODE_EVERY_MS)
  if (early > 0) return { isNow: false, wait: early }
  const all = await allNodes(clients, context)
  const pause = await planned(all, () => evictionPause(all, zone, (other) => isWell(other, context)))
  if (pause === undefined) return { isNow: false }
  const wait = untilNext(pause)
  if (wait > 0) return { isNow: false, wait }
  context.sightings.set(`eviction-zone/${zone}`, { record: '', time: now })
  return { isNow: true }
}

/** @returns milliseconds until the controller may evict the node, if other nodes of the zone come first */
async function taint(clients: Clientset, node: KubeObject & Node, context: ControllerContext) {
  const nodes = clients.resource(NODES)
  const now = context.now()
  const wanted = executeTaint(readyOf(node))
  const wasGivenUp = hasExecuteTaint(node)
  const { isNow, wait: pause }: Turn =
    wanted === undefined
      ? { isNow: true }
      : wasGivenUp
        ? { isNow: await isAnyWell(clients, context) }
        : await turnOf(clients, node, context)
  const key = isNow ? wanted : undefined
  const tainted = (live: KubeObject & Node) =>
    withExecuteTaint(withScheduleTaints(live, timeText(now)), key, timeText(now))
  const isLabelled = Object.keys(formerLabels(node)).length === 0
  if (isLabelled && sameJson(tainted(node), node.spec?.taints ?? [])) return pause
  const changed = await nodes.updateWithRetries(node, (live) => {
    const taints = tainted(live)
    const { taints: _, ...spec } = live.spec ?? {}
    live.spec = taints.length === 0 ? spec : { ...spec, taints }
    if (!isLabelled) live.metadata.labels = { ...live.metadata.labels, ...formerLabels(live) }
  })
  // without a ready node nothing is evicted, so other nodes may wait for a node to become ready again
  if ((wasGivenUp && isNow && !hasExecuteTaint(changed)) || readyOf(changed) === 'True')
    await lookAtOthers(await nodes.list({ shared: true }), node, context)
  return pause
}

/** Queues work for all other nodes that are not ready. */
const lookAtOthers = (nodes: readonly Node[], { metadata: { name } }: Node, context: ControllerContext) =>
  planned(nodes, () => {
    const look = (other: Node): void => {
      if (readyOf(other) !== 'True' && other.metadata.name !== name)
        context.later('node-lifecycle', other.metadata.name ?? '', 0)
    }
    eachPart(nodes, look, PLANNED)
  })

async function podsNotReady(clients: Clientset, node: KubeObject & Node, context: ControllerContext): Promise<void> {
  const events = new EventRecorder(clients, 'node-controller', context.now)
  const isReady = ({ status }: Pod): boolean =>
    status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true
  const onNode = await clients
    .resource(PODS)
    .eachKept({ fieldSelector: `spec.nodeName=${node.metadata.name}` }, (pod) => (isReady(pod) ? podName(pod) : []))
  await inTurns(
    onNode.flat(),
    async (pod) => {
      const { namespace, name = '', uid } = pod.metadata
      const pods = clients.resource(PODS, namespace)
      const live = await pods.get(name)
      if (live === undefined || live.metadata.uid !== uid || !isReady(live)) return
      await pods.updateStatusWithRetries(pod, ({ status }) => {
        for (const condition of status?.conditions ?? [])
          if (condition.type === 'Ready' && condition.status === 'True')
            Object.assign(condition, { status: 'False', lastTransitionTime: timeText(context.now()) })
      })
      await events.warning(pod, 'NodeNotReady', 'Node is not ready')
    },
    context.budget,
  )
}
