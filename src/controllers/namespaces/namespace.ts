/**
 * Empties a namespace that is being deleted, then removes its finalizer (kube-controller-manager's namespace
 * controller). Key: its name. The controller begins some seconds after the deletion, so that clients can delete objects
 * themselves. It deletes pods first, and other objects when the pods are gone.
 */
import type { Namespace, NamespaceCondition, Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { GroupResource } from '../../api/group-version.ts'
import { StatusError } from '../../api/status.ts'
import { logError } from '../../log/log.ts'
import { writtenEntries } from '../../registry/served/written-types.ts'
import { timeText } from '../../schema/time.ts'
import { managerClients } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { forEachAnyway } from '../work/each-anyway.ts'
import { unlessGone } from '../work/unless-gone.ts'
import { untilNextLook } from '../work/waiting-time.ts'
import { forEachShard } from '../../storage/shards/for-each-shard.ts'
import { controlSnapshot, freshControlSnapshot } from '../../tenancy/control-snapshot.ts'

const NAMESPACES: GroupResource = { group: '', resource: 'namespaces' }
const PODS: StoredResource = { group: '', version: 'v1', resource: 'pods' }
/** Milliseconds between the deletion and the first reconciliation, as in kube-controller-manager. */
const GRACE_MS = 5_000
/** deletionTimestamp is cut to whole seconds, so the deletion was up to this much later. */
const CUT_MS = 999
/** From this many milliseconds after the deletion on, each deleted object of the namespace queues the controller. */
const LONG_MS = 30_000

interface StoredResource extends GroupResource {
  readonly version: string
}

/** Objects of one type that one reconciliation deletes. It takes some seconds, and other namespaces wait for it. */
const MOST_AT_ONCE = 2_000

/** The objects that are still in the namespace: how many of each resource, and the finalizers that hold them. */
export interface Remains {
  readonly resources: Map<string, number>
  readonly finalizers: Map<string, number>
  readonly failures: string[]
  /** Whether objects are left for the next reconciliation. The last one reports the remaining objects. */
  isPart?: boolean
}

const isEmpty = ({ resources, failures }: Remains): boolean => resources.size === 0 && failures.length === 0

export const namespaceController: Controller = {
  neverGivesUp: true,
  queue: 'namespaces',
  async reconcile(name, context) {
    const namespaces = managerClients(context).resource(NAMESPACES)
    const namespace = (await namespaces.get(name)) as Namespace | undefined
    if (namespace?.metadata.deletionTimestamp === undefined) return undefined
    const finalizers = namespace.spec?.finalizers ?? []
    if (finalizers.length === 0) return undefined
    const { deletionTimestamp } = namespace.metadata
    const early = Date.parse(deletionTimestamp) + CUT_MS + GRACE_MS - context.now().getTime()
    if (early > 0) return early
    const remains = await empty(context, name, new Date(deletionTimestamp))
    if (remains.isPart) return 0
    await namespaces
      .updateStatusWithRetries(namespace, (object) =>
        setConditions(object as Namespace, remains, timeText(context.now())),
      )
      .catch((error: unknown) => {
        if (!(error instanceof StatusError)) throw error
        // kube-controller-manager goes on after this error, too
        logError('the conditions of a namespace could not be written', { namespace: name, error })
      })
    if (!isEmpty(remains)) return untilNextLook(deletionTimestamp, context.now())
    await namespaces
      .updateWithRetries(
        namespace,
        (object) => {
          const { spec } = object as Namespace
          spec!.finalizers = (spec?.finalizers ?? []).filter((finalizer) => finalizer !== 'kubernetes')
        },
        'finalize',
      )
      .catch((error: unknown) => unlessGone(namespaces, namespace, error))
    context.later('namespace-sweep', name, SWEEP_MS)
    return undefined
  },
}

/** Queues a namespace in deletion after one of its objects went: it may have been the last one. */
export async function lookAtNamespace(context: ControllerContext, name: string): Promise<void> {
  const snapshot = await controlSnapshot(context)
  const { deletionTimestamp } = snapshot.get(NAMESPACES, name)?.metadata ?? {}
  if (deletionTimestamp !== undefined && context.now().getTime() - Date.parse(deletionTimestamp) > LONG_MS)
    context.later('namespace', name, 0)
}

/** Milliseconds after which no isolate still takes a deleted namespace for an existing one. */
const SWEEP_MS = 3_000

/**
 * Deletes objects that an isolate created in the last moment of a namespace, before it knew of the deletion. Key: the
 * namespace's name.
 */
export const namespaceSweeper: Controller = {
  neverGivesUp: true,
  queue: 'namespaces',
  async reconcile(name, context) {
    if (await exists(context, name)) return undefined
    const left: string[] = []
    let isPart = false
    await forEachShard(await namespacedResources(context), async (resource) => {
      const swept = await sweep(context, name, resource)
      if (swept === 'part') isPart = true
      if (swept === 'left') left.push(`${resource.resource}.${resource.group}`)
    })
    if (isPart) return 0
    if (left.length > 0 && !(await exists(context, name)))
      throw new Error(`something is left in a namespace that is gone: ${left.join(', ')}`)
    return undefined
  },
}

const exists = async (context: ControllerContext, namespace: string): Promise<boolean> =>
  (await managerClients(context).resource(NAMESPACES).get(namespace)) !== undefined

/**
 * Deletes objects that were there before the namespace was seen to be absent once more. A new namespace of the same
 * name keeps its own objects: they are younger, or have other uids.
 */
async function sweep(
  context: ControllerContext,
  namespace: string,
  resource: StoredResource,
): Promise<'none' | 'part' | 'left'> {
  if (!(await isOccupied(context, namespace, resource))) return 'none'
  const client = managerClients(context).resource(resource, namespace)
  const found: KubeObject['metadata'][] = []
  let isHeld = false
  for await (const { metadata } of client.each())
    if (metadata.deletionTimestamp !== undefined) isHeld = true
    else if (found.push(metadata) === MOST_AT_ONCE) break
  if (found.length === 0) return isHeld ? 'left' : 'none'
  if (await exists(context, namespace)) return 'none'
  await forEachAnyway(found, context.now, async (metadata) => {
    await client.delete({ metadata }, { propagationPolicy: 'Background' }).catch(ignoreReplaced)
  })
  if (found.length === MOST_AT_ONCE) return 'part'
  for await (const _ of client.each()) return 'left'
  return 'none'
}

function ignoreReplaced(error: unknown): void {
  if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error
}

/**
 * Whether the namespace has objects of the type. One read answers for all namespaces that are emptied together, most of
 * which have objects of few types.
 */
async function isOccupied(context: ControllerContext, namespace: string, resource: StoredResource): Promise<boolean> {
  // few: the namespaces that are emptied together
  const asked = context.together.includes(namespace) ? context.together : [namespace]
  const read = JSON.stringify(['occupied', resource.group, resource.resource, asked])
  const occupied = await context.once(read, () => managerClients(context).resource(resource).occupied(asked))
  // few: as above
  return occupied.includes(namespace)
}

/** Deletes all objects, type by type, and counts those that remain. */
async function empty(context: ControllerContext, namespace: string, deletedAt: Date): Promise<Remains> {
  const remains: Remains = { resources: new Map(), finalizers: new Map(), failures: [] }
  const age = context.now().getTime() - deletedAt.getTime()
  await emptyOf(context, namespace, PODS, remains, ({ grace }) => age < grace * 1000)
  if (remains.resources.size > 0 || remains.isPart) return remains
  const others = (await namespacedResources(context)).filter(
    ({ resource, group }) => resource !== PODS.resource || group !== '',
  )
  await forEachShard(others, (resource) => emptyOf(context, namespace, resource, remains))
  return remains
}

/** An object without its content, which may be large. */
interface Seen {
  readonly metadata: { readonly name: string; readonly uid: string }
}

/** The data of the objects of one type. There may be 20,000, so it keeps only their names and uids. */
interface Content {
  readonly all: Seen[]
  /** Objects without a deletionTimestamp. */
  readonly unmarked: Seen[]
  /** How many objects each finalizer holds back. */
  readonly finalizers: Map<string, number>
  /** The longest grace period of pods that have not ended, in seconds. */
  readonly grace: number
}

async function contentOf(objects: AsyncIterable<KubeObject>): Promise<Content> {
  const all: Seen[] = []
  const unmarked: Seen[] = []
  const finalizers = new Map<string, number>()
  let grace = 0
  for await (const object of objects) {
    const { metadata } = object
    const seen = { metadata: { name: metadata.name!, uid: metadata.uid! } }
    all.push(seen)
    if (metadata.deletionTimestamp === undefined) unmarked.push(seen)
    for (const finalizer of metadata.finalizers ?? []) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
    grace = Math.max(grace, graceOf(object as Pod)) // callers read `grace` only of pods
  }
  return { all, unmarked, finalizers, grace }
}

function graceOf({ spec, status }: Pod): number {
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  return hasEnded ? 0 : Number(spec?.terminationGracePeriodSeconds ?? 0)
}

/** @param mayTakeLonger whether objects may be left although no finalizer holds them */
async function emptyOf(
  context: ControllerContext,
  namespace: string,
  resource: StoredResource,
  remains: Remains,
  mayTakeLonger: (content: Content) => boolean = () => false,
): Promise<void> {
  if (!(await isOccupied(context, namespace, resource))) return
  const client = managerClients(context).resource(resource, namespace)
  const content = await contentOf(client.each())
  const { all, unmarked } = content
  if (all.length === 0) return
  const isPart = unmarked.length > MOST_AT_ONCE
  try {
    await client.deleteCollection(isPart ? unmarked.slice(0, MOST_AT_ONCE) : all, { propagationPolicy: 'Background' })
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    // Objects of this type, even pods, do not count then: the other types are deleted, as by kube-controller-manager.
    remains.failures.push(error.message)
    return
  }
  if (isPart) {
    remains.isPart = true
    return
  }
  // the remaining objects count, not the responses of the deletes
  const left = await contentOf(client.each())
  if (left.all.length === 0) return
  remains.resources.set(`${resource.resource}.${resource.group}`, left.all.length)
  for (const [finalizer, count] of left.finalizers)
    remains.finalizers.set(finalizer, (remains.finalizers.get(finalizer) ?? 0) + count)
  if (left.finalizers.size > 0 || mayTakeLonger(content)) return
  const type = `${resource.group}/${resource.version}, Resource=${resource.resource}`
  remains.failures.push(`unexpected items still remain in namespace: ${namespace} for gvr: ${type}`)
}

/**
 * Types that may have objects, by the latest control snapshot: an isolate that does not know of the deletion yet may
 * just have created the first object of a type.
 */
async function namespacedResources(context: ControllerContext): Promise<StoredResource[]> {
  const entries = writtenEntries(context.env, context.tenant, await freshControlSnapshot(context))
  const stored = entries.filter(({ namespaced }) => namespaced).map(({ storage }) => storage)
  return [...new Map(stored.map((storage) => [`${storage.resource}.${storage.group}`, storage])).values()]
}

/**
 * Sets the five conditions that kube-controller-manager always writes, in its order. While there are pods it counts no
 * objects: the last two conditions are False then.
 */
export function setConditions(namespace: Namespace, remains: Remains, now: string): void {
  const { failures } = remains
  const waitsForPods = remains.resources.has('pods.')
  const [resources, finalizers] = waitsForPods ? [[], []] : [remains.resources, remains.finalizers]
  const content = [...resources].map(([name, count]) => `${name} has ${count} resource instances`).sort()
  const held = [...finalizers].map(([name, count]) => `${name} in ${count} resource instances`).sort()
  const wanted = [
    condition(
      'NamespaceDeletionDiscoveryFailure',
      undefined,
      'ResourcesDiscovered',
      'All resources successfully discovered',
    ),
    condition(
      'NamespaceDeletionGroupVersionParsingFailure',
      undefined,
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    condition(
      'NamespaceDeletionContentFailure',
      failures.length === 0
        ? undefined
        : [
            'ContentDeletionFailed',
            `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(', ')}`,
          ],
      'ContentDeleted',
      'All content successfully deleted, may be waiting on finalization',
    ),
    condition(
      'NamespaceContentRemaining',
      content.length === 0 ? undefined : ['SomeResourcesRemain', `Some resources are remaining: ${content.join(', ')}`],
      'ContentRemoved',
      'All content successfully removed',
    ),
    condition(
      'NamespaceFinalizersRemaining',
      held.length === 0
        ? undefined
        : ['SomeFinalizersRemain', `Some content in the namespace has finalizers remaining: ${held.join(', ')}`],
      'ContentHasNoFinalizers',
      'All content-preserving finalizers finished',
    ),
  ]
  const before = namespace.status?.conditions ?? []
  // few: the conditions above
  const others = before.filter(({ type }) => !wanted.some((condition) => condition.type === type))
  const conditions = wanted.map((condition) => {
    // few: the five conditions
    const old = before.find(({ type }) => type === condition.type)
    const same =
      old?.status === condition.status && old?.reason === condition.reason && old?.message === condition.message
    return same && old !== undefined
      ? old
      : { ...condition, lastTransitionTime: old?.status === condition.status ? old?.lastTransitionTime : now }
  })
  namespace.status = { ...namespace.status, conditions: [...others, ...conditions] }
}

function condition(
  type: string,
  problem: [reason: string, message: string] | undefined,
  reason: string,
  message: string,
): NamespaceCondition {
  return problem === undefined
    ? { type, status: 'False', reason, message }
    : { type, status: 'True', reason: problem[0], message: problem[1] }
}
