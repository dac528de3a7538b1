import { MIGRATED_BY_NEWER } from '../../migrations/newer.ts'
import type { Revision } from './storage.ts'

/**
 * Errors of storage; storage-status.ts turns each into a Status. `Full` and `Failed`: the disk did not take a write,
 * and nothing of it is stored. `Uncertain`: it may be stored or not. `Restoring`: the control plane is being restored.
 * `Superseded`: another restore took over.
 */
export type StorageErrorCode =
  | 'KeyExists'
  | 'KeyNotFound'
  | 'Conflict'
  | 'Compacted'
  | 'FutureRevision'
  | 'TooLarge'
  | 'SelectorTooLarge'
  | 'Overloaded'
  | 'Unavailable'
  | 'Full'
  | 'Failed'
  | 'Uncertain'
  /** The value is encrypted with a key that the server does not have. */
  | 'Sealed'
  /** Another release wrote the database, and this one does not know its schema. */
  | 'Newer'
  | 'Restoring'
  | 'Superseded'
  /** The invocation of a Durable Object has used its subrequests. */
  | 'Spent'

export class StorageError extends Error {
  override readonly name = 'StorageError'

  /**
   * @param revision the revision asked for (Compacted, FutureRevision) or found (Conflict)
   * @param current the newest revision, the oldest one kept for Compacted, or the limit in bytes (TooLarge, SelectorTooLarge)
   */
  constructor(
    readonly code: StorageErrorCode,
    readonly revision: Revision = 0,
    readonly current: Revision = 0,
    readonly detail = '',
  ) {
    super(detail === '' ? code : `${code}: ${detail}`)
  }
}

/** Texts in the errors of a database that cannot be written or read: names of SQLite's, and words of the engine. */
const failures: readonly (readonly [name: string, code: StorageErrorCode])[] = [
  [MIGRATED_BY_NEWER, 'Newer'],
  ['SQLITE_FULL', 'Full'],
  ['SQLITE_TOOBIG', 'TooLarge'],
  ['SQLITE_IOERR', 'Failed'],
  ['SQLITE_CANTOPEN', 'Failed'],
  ['SQLITE_READONLY', 'Failed'],
  ['SQLITE_CORRUPT', 'Failed'],
  ['SQLITE_NOTADB', 'Failed'],
  // failures without a name of their own: a database that cannot be opened, or a full disk in the middle of a
  // transaction
  ['internal error; reference =', 'Failed'],
]

/** Whether an error comes from the database itself: a statement failed, or a failed commit ended the object. */
export function databaseFailure(error: unknown): StorageErrorCode | undefined {
  const text = String(error)
  return failures.find(([name]) => text.includes(name))?.[1]
}
