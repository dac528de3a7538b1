/**
 * Finds nodes for pods without one (kube-scheduler). One run handles all waiting pods: those of higher priority first,
 * then the older ones. A refused pod waits until something changes that could help it. The key is '' or the name of a
 * change of something other than pods and nodes.
 */
import type { Namespace, Node } from '../../api/core/v1.ts'
import { leastOf } from '../../base/extremes.ts'
import { settingsOf } from '../../settings.ts'
import type { WorkBudget } from '../../storage/shards/turn-budget.ts'
import type { ControlSnapshot } from '../../tenancy/control-snapshot.ts'
import { controlSnapshot, freshControlSnapshot } from '../../tenancy/control-snapshot.ts'
import { perTenant, weighTenant } from '../../tenancy/tenant-state.ts'
import type { Clientset } from '../client/clientset.ts'
import { managerClients, typedResource } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { heedsRules } from '../device-taints/device-taints.ts'
import { PODS } from '../workloads/pods/pod-control.ts'
import type { ClusterState, Waiting } from './cluster-state.ts'
import { DeviceFacts } from './devices/device-facts.ts'
import { DefaultSelectors } from './default-selectors.ts'
import type { Cluster } from './framework.ts'
import { Kept } from './kept.ts'
import { SeenNodes } from './seen-nodes.ts'
import { Run } from './run.ts'
import { VolumeFacts } from './volume-facts.ts'
import type { Profiles } from './profile.ts'
import { profilesOf } from './profile.ts'
import type { ClusterEvent } from './wake-up.ts'
import { isHelped } from './wake-up.ts'

const NODES = typedResource<Node>('', 'nodes')
const NAMESPACES = { group: '', resource: 'namespaces' }
/** The most pods that one run binds. The next run binds the others, so that other controllers run in between. */
const MOST = 250
/** The most pods that one run tries, for the same reason: those that fit nowhere are not counted among the bound. */
const MOST_TRIED = 1_000
/** Milliseconds after which a run leaves the other pods to the next one: an invocation may take 30 s of CPU. */
const MOST_MS = 10_000
/** Decisions between two looks at the writes that are under way and at the nodes. */
const AT_ONCE = 4

const events: ReadonlySet<string> = new Set<ClusterEvent>(['VolumeChanged', 'DeviceChanged', 'NamespaceChanged'])
const isEvent = (key: string): key is ClusterEvent => events.has(key)

const states = perTenant('forgotten', () => new Kept())

export const schedulerController: Controller = {
  reconcile: (key, context) =>
    context.alone('scheduler', async () => {
      const kept = states(context.tenant)
      if (kept.isDoubtful) kept.forget()
      try {
        return await look(key, kept, context)
      } catch (error) {
        // changes may be half applied
        kept.forget()
        throw error
      } finally {
        if (kept.state.isTooLarge) kept.forget()
        weighTenant(context.tenant, 'scheduler', kept.state.length)
      }
    }),
}

async function look(key: string, kept: Kept, context: ControllerContext): Promise<number | undefined> {
  const { state } = kept
  const clients = managerClients(context, 'kube-scheduler')
  const nodes = new SeenNodes(state, clients.resource(NODES), context)
  await nodes.read()
  const { profiles: configured, backoffSeconds } = settingsOf(context.env).scheduler
  const profiles = profilesOf(configured)
  for await (const page of clients.resource(PODS).changes(state.podsAt, true)) state.takePods(page, profiles)
  if (isEvent(key)) state.tell(key)
  const now = context.now().getTime()
  await wake(state, profiles, now, context.budget)
  const due = [...state.waiting].filter(([, { refusedBy }]) => refusedBy === undefined)
  if (due.length === 0) return nextRetry(state, now)
  const tried = state.next(due, MOST_TRIED)
  const controlPlane = { ...context, isObject: true }
  // a snapshot at hand may not have the new labels yet
  const snapshot = await (key === 'NamespaceChanged' ? freshControlSnapshot : controlSnapshot)(controlPlane)
  const cluster = await clusterOf(state, tried, clients, snapshot, heedsRules(context))
  const run = new Run(kept, clients, context, cluster, nodes, { profiles, backoffSeconds })
  try {
    for (const [at, [podKey, waiting]] of tried.entries()) {
      await context.budget.room()
      state.begin(waiting)
      await run.schedule(podKey, waiting)
      if ((at + 1) % AT_ONCE !== 0) continue
      if (!(await run.hasRoom()) || run.bound >= MOST || context.now().getTime() - now >= MOST_MS) {
        if (at + 1 < tried.length) state.fallBehind()
        return 0
      }
      await nodes.renew()
    }
  } finally {
    await run.end()
  }
  if (tried.length < due.length) return 0
  // other pods may wait for a pod that this run bound
  return (await wake(state, profiles, now, context.budget)) ? 0 : nextRetry(state, now)
}

/** Changes and waiting pods that are compared between two looks at the budget: a millisecond or two. */
const COMPARED = 64

/** @returns whether the scheduler is to try a pod again */
async function wake(state: ClusterState, profiles: Profiles, now: number, budget: WorkBudget): Promise<boolean> {
  const happened = state.takeEvents()
  let isSome = false
  let compared = 0
  for (const waiting of state.waiting.values()) {
    if ((compared += 1 + happened.nodes.length + (happened.pods ?? []).length) > COMPARED) {
      compared = 0
      await budget.room()
    }
    const { refusedBy, retry } = waiting
    const isTime = retry?.at !== undefined && retry.at <= now
    const mayBeHelped = retry?.at === undefined || retry.isHelped === true
    const hints = profiles.get(waiting.pod.spec?.schedulerName ?? '')?.hints
    if (refusedBy !== undefined && (isTime || (mayBeHelped && isHelped(waiting, refusedBy, happened, hints))))
      waiting.refusedBy = undefined
    isSome ||= waiting.refusedBy === undefined
  }
  return isSome
}

/** Milliseconds until the first waiting pod with a time for its next try is due. */
function nextRetry({ waiting }: ClusterState, now: number): number | undefined {
  const times = [...waiting.values()].flatMap(({ refusedBy, retry }) =>
    refusedBy === undefined || retry?.at === undefined ? [] : [retry.at],
  )
  return times.length === 0 ? undefined : Math.max(0, leastOf(times) - now)
}

async function clusterOf(
  state: ClusterState,
  tried: readonly (readonly [string, Waiting])[],
  clients: Clientset,
  snapshot: ControlSnapshot,
  hasTaintRules: boolean,
): Promise<Cluster> {
  const pods = tried.map(([, { pod }]) => pod)
  const selectors = await DefaultSelectors.of(pods, clients)
  return {
    nodes: state.all,
    node: (name) => state.node(name),
    terms: state.terms,
    namespaces: (name) => snapshot.get<Namespace>(NAMESPACES, name)?.metadata.labels ?? {},
    volumes: await VolumeFacts.of(pods, clients),
    unmade: (pod) => state.unmade(pod),
    devices: await DeviceFacts.of(
      tried.map(([, waiting]) => waiting),
      clients,
      hasTaintRules,
    ),
    defaultSelector: (pod) => selectors.for(pod),
  }
}
