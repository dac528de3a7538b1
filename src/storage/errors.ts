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
  /** A value is encrypted, and not with a key that the server has. */
  | 'Sealed'
  | 'Restoring'
  | 'Superseded'

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

/** The names that SQLite and the engine give the errors of a database that cannot be written or read. */
const failures: readonly (readonly [name: string, code: StorageErrorCode])[] = [
  ['SQLITE_FULL', 'Full'],
  ['SQLITE_TOOBIG', 'TooLarge'],
  ['SQLITE_IOERR', 'Failed'],
  ['SQLITE_CANTOPEN', 'Failed'],
  ['SQLITE_READONLY', 'Failed'],
  ['SQLITE_CORRUPT', 'Failed'],
  ['SQLITE_NOTADB', 'Failed'],
  // Failures that the engine does not report as such: a database that cannot be opened, or a full disk in the middle of
  // a transaction.
  ['internal error; reference =', 'Failed'],
]

/**
 * Whether an error is about the database itself. It may be that of a statement, or the end of an object whose commit
 * failed.
 */
export function databaseFailure(error: unknown): StorageErrorCode | undefined {
  const text = String(error)
  return failures.find(([name]) => text.includes(name))?.[1]
}
