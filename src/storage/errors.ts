import type { Revision } from './storage.ts'

/**
 * What can go wrong in storage; storage-status.ts turns each into a Status. `Full` and `Failed` say that the
 * disk did not take a write, and nothing of it is there; `Uncertain` that it may be there or not. `Restoring`: the control
 * plane is being restored; `Superseded`, to a restore: by another one.
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
  // What the engine does not tell: a database that cannot be opened, or a full disk in the middle of a transaction.
  ['internal error; reference =', 'Failed'],
]

/** Whether an error, be it a statement's or the end of an object whose commit failed, is about the database itself. */
export function databaseFailure(error: unknown): StorageErrorCode | undefined {
  const text = String(error)
  return failures.find(([name]) => text.includes(name))?.[1]
}
