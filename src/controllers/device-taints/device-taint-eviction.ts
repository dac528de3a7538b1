/**
 * Evicts pods whose devices have NoExecute taints that their claims do not tolerate, or no longer tolerate
 * (kube-controller-manager's device-taint-eviction-controller). Keys: registry/resource/device-taint-work.ts. Time counts
 * from the taint's timeAdded.
 */
import type { Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ResourceClaim } from '../../api/resource/v1.ts'
import { setPodCondition } from '../../registry/core/pods/pod-conditions.ts'
import { HopelessWork } from '../../registry/work/hopeless-work.ts'
import { settingsOf } from '../../settings.ts'
import type { Clientset } from '../client/clientset.ts'
import { clientsetFor } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { unlessGone } from '../work/unless-gone.ts'
import { EventRecorder } from '../workloads/events/events.ts'
import { keyParts } from '../workloads/key.ts'
import { PODS } from '../workloads/pods/pod-control.ts'
import { RESOURCE_CLAIMS } from '../workloads/resource-claim/templates.ts'
import { DeviceTaints } from './device-taints.ts'
import { poolText } from './evicting-taints.ts'
import { noteEviction, reportRule, reportRules } from './rule-status.ts'

const NAME = 'device-taint-eviction-controller'
const REASON = 'DeviceTaintManagerEviction'
const TARGET = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByDeviceTaintManager',
  message: 'Device Taint manager: deleting due to NoExecute taint',
} as const

interface Run {
  readonly clients: Clientset
  readonly context: ControllerContext
  readonly taints: DeviceTaints
}
type Look = (key: string, run: Run) => Promise<number | undefined>

export const deviceTaintEviction: Controller = {
  async reconcile(key, context) {
    const colon = key.indexOf(':')
    const look = looks.get(key.slice(0, Math.max(0, colon)))
    if (look === undefined) throw new HopelessWork(`${JSON.stringify(key)} names nothing that has to do with taints`)
    if (!settingsOf(context.env).gates.enabled('DRADeviceTaints')) return undefined
    const clients = clientsetFor(context, NAME)
    return look(key.slice(colon + 1), { clients, context, taints: await DeviceTaints.read(clients, context) })
  },
}

async function lookAtPod(key: string, { clients, context, taints }: Run): Promise<number | undefined> {
  const noted = `device-eviction/${key}` as const
  const pending = context.sightings.get(noted)
  if (pending === undefined && !taints.any) return undefined
  const [namespace, name] = keyParts(key)
  const pod = await clients.resource(PODS, namespace).get(name)
  const eviction = pod && (await taints.evictionOfPod(pod))
  const events = new EventRecorder(clients, NAME, context.now)
  if (pod === undefined || eviction === undefined) {
    if (pending === undefined) return undefined
    if (pending.record === pod?.metadata.uid) await events.normal(reference(pod), REASON, 'Cancelling deletion')
    context.sightings.set(noted, undefined)
    return undefined
  }
  const now = context.now().getTime()
  reportRules(eviction.rules, context)
  const pends = () => context.sightings.set(noted, { record: pod.metadata.uid ?? '', time: eviction.at })
  if (eviction.at > now) {
    pends()
    return eviction.at - now
  }
  try {
    if (await evict(pod, clients, events, context)) noteEviction(eviction.rules, context)
  } catch (error) {
    pends()
    throw error
  }
  context.sightings.set(noted, undefined)
  return undefined
}

/** An Event about the pod names no version of it. */
const reference = ({ metadata: { namespace, name, uid } }: Pod): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { ...(namespace === undefined ? {} : { namespace }), name: name ?? '', uid: uid ?? '' },
})

/** @returns whether this deleted the pod */
async function evict(pod: Pod, clients: Clientset, events: EventRecorder, context: ControllerContext) {
  if (pod.metadata.deletionTimestamp !== undefined) return false
  const pods = clients.resource(PODS, pod.metadata.namespace)
  await events.normal(reference(pod), REASON, 'Marking for deletion')
  try {
    await pods.updateStatusWithRetries(pod, (live) => setPodCondition(live, TARGET, context.now()))
    await pods.delete(pod)
  } catch (error) {
    await unlessGone(pods, pod, error)
    return false
  }
  return true
}

/** Queues the pods of a claim, if its devices may be tainted. */
async function lookAtClaim(key: string, { clients, context, taints }: Run): Promise<undefined> {
  if (!taints.any) return
  const [namespace, name] = keyParts(key)
  queueUsers(await clients.resource(RESOURCE_CLAIMS, namespace).get(name), context)
}

function queueUsers(claim: ResourceClaim | undefined, context: ControllerContext): void {
  if (claim?.status?.allocation === undefined) return
  for (const { apiGroup = '', resource, name } of claim.status.reservedFor ?? [])
    if (apiGroup === '' && resource === 'pods')
      context.later('device-taint-eviction', `pod:${claim.metadata.namespace}/${name}`, 0)
}

/** Queues the pods that use devices of a pool. */
async function lookAtPool(id: string, { clients, context }: Run): Promise<undefined> {
  for await (const claim of clients.resource(RESOURCE_CLAIMS).each())
    if (claim.status?.allocation?.devices?.results?.some(({ driver, pool }) => poolText(driver, pool) === id) === true)
      queueUsers(claim, context)
}

/** A slice without taints may be of a newer generation than one with taints. */
async function lookAtGeneration(id: string, run: Run): Promise<undefined> {
  if (run.taints.mayBe(id)) await lookAtPool(id, run)
}

/** Queues the pods of all allocated claims: a rule selects other devices, or none, from now on. */
async function lookAtClaims(_: string, { clients, context }: Run): Promise<undefined> {
  for await (const claim of clients.resource(RESOURCE_CLAIMS).each()) queueUsers(claim, context)
}

const looks: ReadonlyMap<string, Look> = new Map<string, Look>([
  ['pod', lookAtPod],
  ['claim', lookAtClaim],
  ['pool', lookAtPool],
  ['generation', lookAtGeneration],
  ['claims', lookAtClaims],
  ['rule', (name, { clients, context, taints }) => reportRule(name, clients, context, taints)],
])
