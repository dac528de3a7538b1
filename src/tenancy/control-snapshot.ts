/**
 * What every request needs to know of its control plane: namespaces, RBAC, types, webhooks, policies, flow control. All
 * of it lives in the control shard; each isolate keeps a copy per tenant and brings it up to date with one call that
 * asks for what changed. A copy is at most MAX_AGE old when a request begins, so a revoked grant stops working within
 * that time. Before a step refuses a request it reads a fresh snapshot, so a new grant works at once.
 */
import { isRecent, platformClock } from '../base/clock.ts'
import type { GroupResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import type { Env } from '../env.ts'
import { CONTROL_SHARD } from '../storage/collections.ts'
import { changePages } from '../storage/shards/change-pages.ts'
import { storageFor } from '../storage/environment-storage.ts'
import { revisionHere } from '../storage/shards/shards-here.ts'
import type { Subrequests } from '../storage/shards/subrequests.ts'
import type { Collection, Revision, Storage } from '../storage/storage.ts'
import { credentialsReplaced, credentialsWritten, holdsCredentials } from './credential-writes.ts'
import { isReadRecently, recentlyWritten } from './recent-objects.ts'
import { packOld } from './packing.ts'
import { SharedCall } from './shared-call.ts'
import { isGrouped, SnapshotData } from './snapshot-data.ts'
import { perTenant, tenantReplaced, weighTenant } from './tenant-state.ts'
import type { Tenant } from '../storage/tenant.ts'

export { SnapshotData } from './snapshot-data.ts'

/** An immutable view. Objects and unchanged lists are the same values in later views. */
export interface ControlSnapshot {
  readonly revision: Revision
  /** In the order of their keys. The caller chooses the type, which must be that of the resource's storage version. */
  list<O extends KubeObject>(resource: GroupResource): readonly O[]
  inNamespace<O extends KubeObject>(resource: GroupResource, namespace: string): readonly O[]
  /** UTF-16 units of the stored objects of a namespace. */
  sizeInNamespace(resource: GroupResource, namespace: string): number
  /** CustomResourceDefinitions or APIServices whose names end with a group. */
  inGroup<O extends KubeObject>(resource: GroupResource, group: string): readonly O[]
  /** The same by group. Unchanged lists are the same values in later views, and so is the whole map. */
  groups<O extends KubeObject>(resource: GroupResource): ReadonlyMap<string, ObjectsOfGroup<O>>
  /** @param key NAME, or NAMESPACE/NAME */
  get<O extends KubeObject>(resource: GroupResource, key: string): O | undefined
}

export interface ObjectsOfGroup<O extends KubeObject> {
  readonly list: readonly O[]
  /** Reads long objects in steps before the first use of `list`. Undefined if there is nothing to read. */
  read(): Promise<void> | undefined
}

export interface ControlPlane {
  readonly env: Env
  readonly tenant: Tenant
  /** Lets work go on after the answer. */
  waitUntil?(work: Promise<unknown>): void
  /** The signal of a request; aborted when its client has hung up. */
  readonly gone?: () => AbortSignal
  /** As in ApiCall. */
  readonly hops?: number
  /** The caller is a Durable Object and not a request. */
  readonly isObject?: boolean
  /** As in ApiCall. */
  readonly storage?: Storage
  readonly subrequests?: Subrequests
  /**
   * The request is for a built-in resource. Its view of definitions and APIServices may be as old as that of another
   * isolate, even if this isolate has just written one. Otherwise each request would fetch a snapshot while a thousand
   * definitions are written.
   */
  readonly definitionsMayLag?: boolean
}

/** Milliseconds. */
const MAX_AGE = 1_000
/** Milliseconds. While one request fetches changes, others use a copy of up to this age rather than fetch too. */
const MAX_AGE_WHILE_FETCHING = 2_000
/** No copy is used for longer than this after it was fetched. */
export const LONGEST_AGE = MAX_AGE_WHILE_FETCHING

/** This isolate's state of a control plane's configuration. */
class Copy {
  snapshot: SnapshotData | undefined
  /** When the call that fetched it began, in milliseconds since 1970; 0 after a write of this isolate. */
  fetched = 0
  /** The same, where a write of definitions or APIServices makes it 0. */
  definitionsFetched = 0
  readonly ofRequests = new Calls()
  /**
   * The engine resumes code that waits for a call in the context that made the call. The context of an object has no
   * request between two events, and calls out of it fail then. So objects and requests do not wait for each other's
   * calls.
   */
  readonly ofObject = new Calls()
}

class Calls extends SharedCall<ControlSnapshot> {
  /** The first call that sees the last write of this isolate. */
  needed = 0
  /** The same for writes of definitions and APIServices. */
  neededOfDefinitions = 0

  constructor() {
    super(platformClock)
  }
}

const callsOf = (copy: Copy, { isObject = false }: ControlPlane): Calls => (isObject ? copy.ofObject : copy.ofRequests)

const copyOf = perTenant('is renewed', () => new Copy())

/** The last snapshot of this isolate, of any age; undefined where there is none. */
export const lastSnapshot = (tenant: Tenant): ControlSnapshot | undefined => copyOf(tenant).snapshot

/** The snapshot of this isolate where it is at most a second old. */
export function snapshotAtHand(plane: ControlPlane): ControlSnapshot | undefined {
  const copy = copyOf(plane.tenant)
  if (copy.snapshot === undefined) return undefined
  const [now, fetched] = [platformClock(), plane.definitionsMayLag === true ? copy.fetched : copy.definitionsFetched]
  if (isRecent(fetched, now, MAX_AGE)) return copy.snapshot
  const isUnderWay =
    isRecent(fetched, now, MAX_AGE_WHILE_FETCHING) && callsOf(copy, plane).underWay(MAX_AGE) !== undefined
  return isUnderWay ? copy.snapshot : undefined
}

/** A snapshot that is at most a second old. */
export async function controlSnapshot(plane: ControlPlane): Promise<ControlSnapshot> {
  const atHand = snapshotAtHand(plane)
  if (atHand !== undefined) return atHand
  const copy = copyOf(plane.tenant)
  const calls = callsOf(copy, plane)
  const mayLag = plane.definitionsMayLag === true
  const underWay = calls.underWay(MAX_AGE)
  const needed = mayLag ? calls.needed : Math.max(calls.needed, calls.neededOfDefinitions)
  return calls.answer(Math.max(underWay ?? calls.next, needed), (call) => fetch(plane, copy, call))
}

/** A snapshot with everything that was written before the call. */
export function freshControlSnapshot(plane: ControlPlane): Promise<ControlSnapshot> {
  const copy = copyOf(plane.tenant)
  const calls = callsOf(copy, plane)
  return calls.answer(calls.next, (call) => fetch(plane, copy, call))
}

/**
 * A fresh snapshot before a denial, where an old one cannot grant too much. No call is needed where the shard's
 * object is in this isolate and has written nothing since. (An object that the platform has just moved may have
 * written elsewhere.)
 */
export async function snapshotBeforeRefusal(plane: ControlPlane): Promise<ControlSnapshot> {
  const { snapshot } = copyOf(plane.tenant)
  const shard = { tenant: plane.tenant.uid, shard: CONTROL_SHARD }
  if (snapshot !== undefined && snapshot.revision === revisionHere(shard, platformClock())) return snapshot
  return freshControlSnapshot(plane)
}

function fetch(plane: ControlPlane, copy: Copy, call: number): Promise<ControlSnapshot> {
  const fetched = fetchInto(plane, copy, call)
  // other requests wait for it, even where the client of this request has gone
  plane.waitUntil?.(fetched.catch(() => {}))
  return fetched
}

export interface NewControlPlane extends Omit<ControlPlane, 'gone' | 'definitionsMayLag'> {
  readonly storage: Storage
  readonly now: Date
}

/** @returns whether anything was written, which makes the copy of the control shard old */
type Bootstrap = (plane: NewControlPlane, snapshot: ControlSnapshot) => Promise<boolean>

let bootstraps: Bootstrap | undefined

/**
 * Sets the function that writes the objects of every control plane. It belongs to a higher layer, so server.ts hands
 * it in.
 */
export function bootstrapWith(work: Bootstrap): void {
  bootstraps = work
}

function assertBootstraps(work: Bootstrap | undefined): asserts work is Bootstrap {
  if (work === undefined) throw new Error('assertion failed: nothing bootstraps control planes (bootstrapWith)')
}

async function fetchInto(plane: ControlPlane, copy: Copy, call: number): Promise<ControlSnapshot> {
  const { env, tenant } = plane
  const began = platformClock()
  const storage = storageFor(plane)
  const isObject = plane.isObject === true
  const waitUntil = (work: Promise<unknown>): void => plane.waitUntil?.(work)
  let snapshot = await fetchChanges(storage, tenant, copy.snapshot)
  assertBootstraps(bootstraps)
  if (await bootstraps({ env, tenant, storage, isObject, waitUntil, now: new Date(began) }, snapshot))
    snapshot = await fetchChanges(storage, tenant, snapshot)
  // a call that counted as lost may end after a later one
  if (copy.snapshot !== undefined && copy.snapshot.revision > snapshot.revision) return copy.snapshot
  copy.snapshot = snapshot
  const { needed, neededOfDefinitions } = callsOf(copy, plane)
  copy.fetched = call < needed ? 0 : began
  copy.definitionsFetched = call < Math.max(needed, neededOfDefinitions) ? 0 : began
  weighTenant(tenant, 'configuration', snapshot.size)
  waitUntil(packOld())
  return snapshot
}

const noticing = new WeakMap<Storage, Storage>()

/** Storage that marks the copy as old after a write, so that the isolate's next request sees its own writes. */
export function noticingControlWrites(storage: Storage): Storage {
  const known = noticing.get(storage)
  if (known !== undefined) return known
  const noticed = <Written>(collection: Collection, write: Promise<Written>): Promise<Written> =>
    collection.shard === CONTROL_SHARD
      ? write.finally(() => outdated(collection))
      : holdsCredentials(collection)
        ? write.finally(() => {
            credentialsWritten({ uid: collection.tenant })
            recentlyWritten(collection)
          })
        : isReadRecently(collection)
          ? write.finally(() => recentlyWritten(collection))
          : write
  const wrapped: Storage = {
    ...storage,
    create: (collection, key, value) => noticed(collection, storage.create(collection, key, value)),
    update: (collection, key, value, expected) => noticed(collection, storage.update(collection, key, value, expected)),
    delete: (collection, key, last, expected) => noticed(collection, storage.delete(collection, key, last, expected)),
  }
  noticing.set(storage, wrapped)
  return wrapped
}

function outdated({ tenant, prefix }: Collection): void {
  const copy = copyOf({ uid: tenant })
  copy.definitionsFetched = 0
  if (!isGrouped(prefix)) copy.fetched = 0
  for (const calls of [copy.ofRequests, copy.ofObject]) {
    calls.neededOfDefinitions = calls.next
    if (!isGrouped(prefix)) calls.needed = calls.next
  }
}

async function fetchChanges(storage: Storage, tenant: Tenant, known?: SnapshotData): Promise<SnapshotData> {
  const shard = { tenant: tenant.uid, shard: CONTROL_SHARD }
  let snapshot = known ?? SnapshotData.empty
  const since = snapshot.revision === 0 ? undefined : snapshot.revision
  for await (const changes of changePages(storage, shard, since)) {
    if (changes.reset && since !== undefined) {
      credentialsReplaced(tenant)
      tenantReplaced(tenant)
    }
    snapshot = snapshot.with(changes)
    // packed at once, so that the text never grows old in V8's heap
    if (changes.more) await packOld()
  }
  return snapshot
}
