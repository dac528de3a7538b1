/**
 * Shards whose object runs in this isolate, as all do in the local engine: what such an object wrote last is seen in
 * memory, where any other has to be called.
 *
 * An object counts for a moment after it answered a call. One that the platform has moved elsewhere answers no more, and
 * would know nothing of what is written since.
 */
import { BoundedMap } from '../api/bounded-map.ts'
import type { Revision, ShardName } from './storage.ts'

/** The visible state of an object; it changes with each write. */
export interface Newest {
  revision: Revision
}

interface Here {
  readonly newest: Readonly<Newest>
  /** Milliseconds since 1970. */
  readonly answered: number
}

/** Milliseconds. Where the object is here, it brought the snapshot that is in use, which is at most as old. */
const MOMENT = 2_000
/** As many control planes as an isolate remembers. */
const MOST = 256

/** By `TENANT/SHARD`. */
const shards = new BoundedMap<string, Here>({ entries: MOST })

/** Called by the object when it answers what changed. @param name `TENANT/SHARD` @param now milliseconds since 1970 */
export function answeredHere(name: string, newest: Readonly<Newest>, now: number): void {
  shards.set(name, { newest, answered: now })
}

/** An object calls this when it begins, and when it stops showing its state. */
export const notHere = (name: string): void => shards.delete(name)

/** The revision of a shard, with everything that was written before; undefined: it has to be asked. */
export function revisionHere({ tenant, shard }: ShardName, now: number): Revision | undefined {
  const here = shards.get(`${tenant}/${shard}`)
  if (here === undefined || now - here.answered > MOMENT) return undefined
  return here.newest.revision
}
