/** The latest state of a shard's changed objects, in pages: for caches of configuration, which ask again and again. */
import type { Revision, ShardChanges } from '../src/storage/storage.ts'
import type { Log } from './log.ts'
import type { Statements } from './statements.ts'
import { DELETED } from './statements.ts'

/** UTF-16 units of a page. Reading, sending and receiving it take some milliseconds each. */
const MAX_LENGTH = 1024 * 1024
/**
 * Objects of a page, once it has this length: those of a control plane without definitions fit one page. A second page
 * would be a call more for each new isolate, and may be a write.
 */
const MAX_OBJECTS = { count: 128, length: 256 * 1024 }
/** Rows that a page looks at. Those of versions that are not the newest are passed over. */
const MAX_ROWS = 1_024

/**
 * Pages are in the order of revisions, so a write between two pages is in a later one. Compaction hides nothing but
 * deletions. A reader of the whole state can therefore go on as long as the log has every deletion since it began,
 * wherever its last page ended.
 *
 * @param resetAt of the page before: the beginning of the state that it belongs to
 * @param keep as in ListCall
 */
export function newestChanges(
  log: Log,
  statements: Statements,
  since: Revision | undefined,
  resetAt?: Revision,
  keep = true,
): ShardChanges {
  // `since` may be a revision from before a restored backup, which is not in this log
  const reset = since === undefined || (resetAt ?? since) < log.floor || since > log.last
  // Every fresh snapshot asks this. Most often nothing changed, and no row is read.
  if (!reset && since === log.last) return { revision: since, reset, more: false, changed: [] }
  const changed = new Map<string, ShardChanges['changed'][number]>()
  let length = 0
  let seen = 0
  let revision: Revision = reset ? 0 : since
  let more = false
  for (const { rv, k, t, v } of statements.newestChanges(revision)) {
    const isFull = length >= MAX_OBJECTS.length && changed.size >= MAX_OBJECTS.count
    more = length >= MAX_LENGTH || isFull || seen >= MAX_ROWS
    if (more) break
    seen++
    revision = rv
    if (v === null) continue
    if (t === DELETED) {
      changed.delete(k)
      if (!reset) changed.set(k, { key: k, revision: rv })
    } else {
      changed.set(k, { key: k, revision: rv, text: v })
      length += v.length
    }
  }
  const page = { reset, more, changed: [...changed.values()] }
  if (!more) return { ...page, revision: log.last }
  // a page that begins a state takes a fresh revision; in a shard without writes the floor reaches it with the first
  // write
  const beginning = reset ? log.freshRevision(keep) : resetAt
  return { ...page, revision, ...(beginning === undefined ? {} : { resetAt: beginning }) }
}
