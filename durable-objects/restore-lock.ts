/**
 * A shard that is being restored answers only the restore, until the whole control plane is restored. So no client
 * sees a part of it, and nobody writes between the old state and the new one. The lock is on disk. It outlives a
 * restore that was killed, until another restore takes it over.
 */
import { StorageError } from '../src/storage/errors.ts'
import type { RestoreId } from '../src/storage/storage.ts'
import type { Statements } from './statements.ts'

export class RestoreLock {
  /** The restore that holds the lock; 0 for none. */
  private holder: RestoreId

  constructor(private readonly statements: Statements) {
    this.holder = statements.meta('restore')
  }

  get isHeld(): boolean {
    return this.holder !== 0
  }

  /** @throws StorageError Restoring */
  check(): void {
    if (this.holder !== 0) throw new StorageError('Restoring')
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
  }

  /** Resets the lock where the step fails, so that memory is never ahead of the disk. */
  attempt<Outcome>(step: () => Outcome): Outcome {
    const { holder } = this
    try {
      return step()
    } catch (error) {
      this.holder = holder
      throw error
    }
  }

  private set(holder: RestoreId): void {
    if (holder !== this.holder) this.statements.setMeta('restore', holder)
    this.holder = holder
  }
}
