/**
 * Reads the changes of a shard, page by page, to the end. A page that is followed by others either goes on from its
 * revision, or belongs to a state that is told from its beginning: `resetAt` names that state, and the call for the
 * next page passes it back. Every page goes forward and their number is bounded, so a reader ends with all changes or
 * with an error.
 */
import { StorageError } from './errors.ts'
import type { Revision, ShardChanges, ShardName, Storage } from './storage.ts'

/** Of 1 MiB: more than any isolate could hold. */
const MAX_PAGES = 1_000
/** A state is begun again when a compaction passed its beginning, which takes it minutes. */
const MAX_BEGINNINGS = 3

/** @param since absent: from the beginning. A page that says `reset` takes back the pages before it. */
export async function* changePages(
  storage: Pick<Storage, 'changes'>,
  shard: ShardName,
  since?: Revision,
): AsyncGenerator<ShardChanges, void, undefined> {
  let resetAt: Revision | undefined
  let beginnings = 0
  for (let page = 0; page < MAX_PAGES; page++) {
    const changes = await storage.changes(shard, since, resetAt)
    if (changes.reset && ++beginnings > MAX_BEGINNINGS) break
    if (changes.more && !changes.reset && changes.revision <= (since ?? 0))
      throw new Error(`the changes of ${shard.tenant}/${shard.shard} went no further than ${since}`)
    yield changes
    if (!changes.more) return
    since = changes.revision
    resetAt = changes.resetAt
  }
  throw new StorageError('Unavailable', 0, 0, `${shard.shard} changes faster than it can be read`)
}
