/**
 * A shard that is being restored answers only the restore, until the whole control plane is restored. So no client
 * sees a part of it, and nobody writes between the old state and the new one. The lock is on disk. It outlives a
 * restore that was killed, until another restore takes it over.
 */
import type { Clock } from '../src/base/clock.ts'
import { StorageError } from '../src/storage/errors.ts'
import type { RestoreId } from '../src/storage/storage.ts'
import type { Statements } from './statements.ts'

/**
 * Milliseconds by which the clock of a writer may be behind. A write that an old copy of the configuration allowed
 * begins at least twice as long before the shard opens (LOCKED_FOR in src/endpoints/backup/restore-plan.ts).
 */
const BEHIND = 500

export class RestoreLock {
  /** The restore that holds the lock; 0 for none. */
  private holder: RestoreId
  /** When the last restore released it, in milliseconds since 1970; 0 for never. */
  private released: number

  constructor(
    private readonly statements: Statements,
    private readonly now: Clock,
  ) {
    this.holder = statements.meta('restore')
    this.released = statements.meta('restored')
  }

  get isHeld(): boolean {
    return this.holder !== 0
  }

  /** @throws StorageError Restoring */
  check(): void {
    if (this.holder !== 0) throw new StorageError('Restoring')
  }

  /**
   * Refuses a write that began before the shard was restored, and was on its way since. Where the clock was set back,
   * nobody can tell.
   * @param begun as in ShardWrite
   * @throws StorageError Restoring
   */
  checkBegun(begun = Infinity): void {
    if (begun < this.released - BEHIND && this.released <= this.now()) throw new StorageError('Restoring')
  }

  /**
   * Takes the lock, also from an earlier restore.
   * @throws StorageError Superseded
   */
  take(restore: RestoreId): void {
    if (restore < this.holder) throw new StorageError('Superseded')
    this.set(restore)
  }

  /** @throws StorageError Superseded */
  require(restore: RestoreId): void {
    if (restore !== this.holder) throw new StorageError('Superseded')
  }

  /**
   * The caller may repeat it where the answer was lost.
   * @throws StorageError Superseded
   */
  release(restore: RestoreId): void {
    if (!this.isHeld) return
    this.require(restore)
    this.set(0)
    this.released = this.now()
    this.statements.setMeta('restored', this.released)
  }

  /** Resets the lock where the step fails, so that memory is never ahead of the disk. */
  attempt<Outcome>(step: () => Outcome): Outcome {
    const { holder, released } = this
    try {
      return step()
    } catch (error) {
      this.holder = holder
      this.released = released
      throw error
    }
  }

  private set(holder: RestoreId): void {
    if (holder !== this.holder) this.statements.setMeta('restore', holder)
    this.holder = holder
  }
}
