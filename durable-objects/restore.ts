import { StorageError } from '../src/storage/errors.ts'
import type { NewValue, RestoredValue, RestoreId, Revision } from '../src/storage/storage.ts'
import type { FirstWrite } from './first-write.ts'
import { allBelow } from './key-range.ts'
import type { Log } from './log.ts'
import type { RestoreLock } from './restore-lock.ts'
import type { Statements } from './statements.ts'
import type { WatchHub } from './watch-hub.ts'

/** The steps in which a shard takes the values of a backup, from lock to unlock. Each is a transaction. */
export class Restore {
  constructor(
    private readonly lock: RestoreLock,
    private readonly log: Log,
    private readonly statements: Statements,
    private readonly watches: WatchHub,
    private readonly firstWrite: FirstWrite,
  ) {}

  /** @param unchangedSince as in Storage.lock */
  begin(restore: RestoreId, unchangedSince: Revision | undefined): void {
    const newest = this.statements.newestRevision()
    if (unchangedSince !== undefined && newest > unchangedSince)
      throw new StorageError('Conflict', newest, this.log.last)
    this.lock.take(restore)
    // clients find no older revision, so they list again
    this.watches.interrupt()
  }

  keys(prefix: string, restore: RestoreId): readonly string[] {
    this.lock.require(restore)
    return this.statements.keys(allBelow(`${prefix}/`)).map((key) => key.slice(prefix.length + 1))
  }

  clear(restore: RestoreId): void {
    this.lock.require(restore)
    this.log.clear()
    this.firstWrite.forget()
  }

  /** @param notice is called with each value before any is written */
  put(restore: RestoreId, values: readonly RestoredValue[], notice: (value: NewValue) => void): void {
    this.lock.require(restore)
    for (const { value } of values) notice(value)
    this.log.restore(values)
  }

  end(restore: RestoreId, cut: Revision): void {
    this.lock.release(restore)
    this.log.beginAnew(cut)
  }
}
