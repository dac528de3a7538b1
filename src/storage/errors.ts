import type { Revision } from './storage.ts'

/** What can go wrong in storage; endpoints/storage-status.ts turns each into a Status. */
export type StorageErrorCode =
  'KeyExists' | 'KeyNotFound' | 'Conflict' | 'Compacted' | 'FutureRevision' | 'TooLarge' | 'Overloaded' | 'Unavailable'

export class StorageError extends Error {
  override readonly name = 'StorageError'

  /**
   * @param revision the revision asked for (Compacted, FutureRevision) or found (Conflict)
   * @param current the newest revision, or the oldest one kept for Compacted
   */
  constructor(
    readonly code: StorageErrorCode,
    readonly revision: Revision = 0,
    readonly current: Revision = 0,
    detail = '',
  ) {
    super(detail === '' ? code : `${code}: ${detail}`)
  }
}
