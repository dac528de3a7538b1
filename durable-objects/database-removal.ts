/**
 * Deletes the database of a shard whose type is gone, so that definitions that come and go leave nothing behind. It
 * waits until the retention is over: a new shard takes every younger revision for one at which nothing happened, and
 * refuses older ones. What a client has from this shard is older by then, so a new shard answers it as this one would.
 */
import type { Clock } from '../src/base/clock.ts'
import { timeOf } from '../src/storage/revisions/revision.ts'
import type { FirstWrite } from './first-write.ts'
import type { Log } from './log.ts'
import type { RestoreLock } from './restore-lock.ts'
import type { Statements } from './statements.ts'

interface Parts {
  readonly log: Pick<Log, 'last' | 'retention'>
  readonly statements: Pick<Statements, 'isEmpty' | 'newestRevision' | 'oldestOutbox' | 'held'>
  readonly firstWrite: Pick<FirstWrite, 'isRetired'>
  readonly lock: Pick<RestoreLock, 'isHeld'>
  readonly watches: () => number
  readonly now: Clock
  /** Does its work in the turn that calls it. */
  readonly deleteAll: () => Promise<void>
}

export class DatabaseRemoval {
  /** The database has no tables any more. */
  isDone = false

  constructor(private readonly parts: Parts) {}

  /** When to run: undefined unless the type is gone. Milliseconds since 1970. */
  due(): number | undefined {
    const { log, firstWrite, now } = this.parts
    if (this.isDone || !firstWrite.isRetired) return undefined
    // a quarter of the retention where somebody still watches, or holds an old state
    return this.isPast ? now() + log.retention / 4 : timeOf(log.last) + log.retention + 1
  }

  async run(): Promise<void> {
    const { statements, firstWrite, lock, watches, now, deleteAll } = this.parts
    if (!firstWrite.isRetired || !this.isPast || lock.isHeld || watches() > 0) return
    // versions that compaction left, or work that was not delivered
    if (!statements.isEmpty() || statements.newestRevision() > 0 || statements.oldestOutbox(1).length > 0) return
    if (statements.held(now()) > 0) return
    this.isDone = true
    await deleteAll()
  }

  private get isPast(): boolean {
    const { log, now } = this.parts
    return timeOf(log.last) + log.retention < now()
  }
}
