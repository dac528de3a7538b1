/**
 * Objects that many writes read and few change: limit ranges, priority classes, service accounts. An isolate reads
 * each at most once a second. Its next request sees its own writes, and sees writes of another isolate within a
 * second, as with the control snapshot. A missing object is never cached.
 */
import { BoundedMap } from '../base/bounded-map.ts'
import { frozen } from '../base/frozen.ts'
import { isRecent, platformClock } from '../base/clock.ts'
import type { GroupResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { collectionOf } from '../storage/collections.ts'
import type { Collection } from '../storage/storage.ts'
import { storedObject } from './stored-object.ts'
import { storedObjects } from './stored-objects.ts'
import { perTenant } from './tenant-state.ts'

/** Milliseconds. */
const MAX_AGE = 1_000
/** UTF-16 units of JSON. Larger objects are read each time. */
const MAX_SIZE = 4 * 1024 * 1024

interface Read {
  /** When the call that read it began. */
  readonly at: number
  readonly found: unknown
  readonly size: number
}

const readsOf = perTenant('forgotten', () => ({
  /** By collection, and key or namespace. */
  reads: new BoundedMap<string, Read>({ entries: 10_000, size: MAX_SIZE, sizeOf: (_, { size }) => size }),
  /** The number of this isolate's writes by collection. Bound: the collections that are read here. */
  writes: new Map<string, number>(),
}))

type Plane = Parameters<typeof storedObjects>[0]

/**
 * An object as it was at most a second ago. Callers must not change it.
 * @param key NAME, or NAMESPACE/NAME
 */
export const recentObject = <O>(plane: Plane, resource: GroupResource, key: string) =>
  recent(plane, resource, `= ${key}`, () => storedObject<O>(plane, resource, key))

/**
 * All objects of a namespace, or of a cluster-scoped resource, as they were at most a second ago. Callers must not
 * change them.
 */
export const recentObjects = <O>(
  plane: Plane,
  resource: GroupResource,
  namespace?: string,
): Promise<readonly (O & KubeObject)[]> =>
  recent<readonly (O & KubeObject)[]>(plane, resource, `* ${namespace ?? ''}`, () =>
    storedObjects<O>(plane, resource, namespace),
  )

async function recent<Found>(
  { tenant }: Plane,
  resource: GroupResource,
  what: string,
  read: () => Promise<Found>,
): Promise<Found> {
  const { reads, writes } = readsOf(tenant)
  const { prefix } = collectionOf(tenant, resource)
  // entries from before a write of this isolate are never used again
  const wrote = writes.get(prefix) ?? 0
  const key = `${prefix} ${wrote} ${what}`
  const at = platformClock()
  const known = reads.get(key)
  // the caller knows the type, and a resource has only one
  if (known !== undefined && isRecent(known.at, at, MAX_AGE)) return known.found as Found
  writes.set(prefix, wrote)
  const found = await read()
  if (found !== undefined) reads.set(key, { at, found: frozen(found), size: JSON.stringify(found).length })
  return found
}

/**
 * For a caller that reads an object itself: it calls this first, and then hands over the object, which counts as read
 * at that moment. Nobody may change it.
 */
export function readingRecent<O>({ tenant }: Plane, resource: GroupResource): (key: string, found: O) => void {
  const { reads, writes } = readsOf(tenant)
  const { prefix } = collectionOf(tenant, resource)
  const wrote = writes.get(prefix) ?? 0
  writes.set(prefix, wrote)
  const at = platformClock()
  return (name, found) => {
    const key = `${prefix} ${wrote} = ${name}`
    const known = reads.get(key)
    if (known === undefined || known.at < at)
      reads.set(key, { at, found: frozen(found), size: JSON.stringify(found).length })
  }
}

/** Whether something of the collection was read here. */
export const isReadRecently = ({ tenant, prefix }: Collection): boolean => readsOf({ uid: tenant }).writes.has(prefix)

/** Called after a write of this isolate to a collection, which makes earlier reads old. */
export function recentlyWritten({ tenant, prefix }: Collection): void {
  const { writes } = readsOf({ uid: tenant })
  const wrote = writes.get(prefix)
  if (wrote !== undefined) writes.set(prefix, wrote + 1)
}
