/**
 * Shards whose object runs in this isolate, as all do in the local engine. The newest revision of such an object is
 * read from memory; any other object has to be called. An object counts for a moment after it has answered a call:
 * one that the platform has moved elsewhere does not answer, and does not know of later writes.
 */
import { BoundedMap } from '../../base/bounded-map.ts'
import { isRecent } from '../../base/clock.ts'
import type { Revision, ShardName } from '../storage.ts'

/** The visible state of an object, which changes with each write. */
export interface Newest {
  revision: Revision
}

interface Here {
  readonly newest: Readonly<Newest>
  /** Milliseconds since 1970. */
  readonly answered: number
}

/** Milliseconds. A snapshot from an object here is at most this old. */
const MOMENT = 2_000
/** The most control planes that an isolate remembers. */
const MOST = 256

/** By `TENANT/SHARD`. */
const shards = new BoundedMap<string, Here>({ entries: MOST })

/**
 * The object calls it when it answers which objects changed.
 * @param name `TENANT/SHARD`
 * @param now milliseconds since 1970
 */
export function answeredHere(name: string, newest: Readonly<Newest>, now: number): void {
  shards.set(name, { newest, answered: now })
}

/** An object calls it when it starts, and when it stops showing its state. */
export const notHere = (name: string): void => shards.delete(name)

/** The newest revision of a shard; undefined where the shard has to be called. */
export function revisionHere({ tenant, shard }: ShardName, now: number): Revision | undefined {
  const here = shards.get(`${tenant}/${shard}`)
  if (here === undefined || !isRecent(here.answered, now, MOMENT)) return undefined
  return here.newest.revision
}
