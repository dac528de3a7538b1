/** The latest state of what changed in a shard: for caches of configuration, which ask again and again. */
import type { Revision, ShardChanges } from '../src/storage/storage.ts'
import type { Log } from './log.ts'
import type { Statements } from './statements.ts'
import { DELETED } from './statements.ts'

/** UTF-16 units of an answer; RPC values end at 32 MiB. */
const MAX_LENGTH = 8 * 1024 * 1024

export function newestChanges(log: Log, statements: Statements, since: Revision | undefined): ShardChanges {
  // A revision from before a restored backup is not one of this log.
  const reset = since === undefined || since < log.floor || since > log.last
  const changed = new Map<string, ShardChanges['changed'][number]>()
  let length = 0
  let revision: Revision = reset ? 0 : since
  let more = false
  for (const { rv, k, t, v } of statements.newestChanges(revision)) {
    more = length >= MAX_LENGTH
    if (more) break
    revision = rv
    if (t === DELETED) {
      changed.delete(k)
      if (!reset) changed.set(k, { key: k, revision: rv })
    } else {
      changed.set(k, { key: k, revision: rv, text: v })
      length += v.length
    }
  }
  return { revision: more ? revision : log.last, reset, more, changed: [...changed.values()] }
}
