import { StatusError } from '../api/status.ts'
import { StorageError } from '../storage/errors.ts'

/**
 * Whether the API refused a write of one object. A webhook may refuse with any code, so the code does not tell. A
 * failure of storage is no refusal: it concerns the writes of other objects, too, and the write may have been done.
 */
export const isRefusal = (error: unknown): error is StatusError =>
  error instanceof StatusError && !(error.code >= 500 && error.cause instanceof StorageError)
