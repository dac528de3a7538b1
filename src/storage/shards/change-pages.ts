/**
 * Reads the changes of a shard, page by page, to the end. The next page continues after a page's revision, or it
 * belongs to a complete state that is read from its beginning: `resetAt` names that state, and the next call passes
 * it back. Every page goes forward and their number is bounded, so a reader ends with all changes or with an error.
 */
import { StorageError } from '../errors.ts'
import type { Revision, ShardChanges, ShardName, Storage } from '../storage.ts'

/** Each page has at most 1 MiB and 1,024 rows of the log. */
const MAX_PAGES = 10_000
/** Reading a state starts again where compaction has passed its beginning, which takes compaction minutes. */
const MAX_BEGINNINGS = 3

/** @param since absent: from the beginning. A page with `reset` makes the pages before it invalid. */
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
