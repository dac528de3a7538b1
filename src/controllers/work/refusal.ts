import { StatusError } from '../../api/status.ts'
import { StorageError } from '../../storage/errors.ts'

/** An overloaded storage. Its other 4xx codes say what is wrong with the one object. */
const TOO_MANY_REQUESTS = 429

/**
 * Whether the API refused a write of one object. A webhook may refuse with any code, so the code does not tell. A
 * failure of storage is no refusal: it concerns the writes of other objects, too, and the write may have been done.
 */
export const isRefusal = (error: unknown): error is StatusError =>
  error instanceof StatusError &&
  !((error.code >= 500 || error.code === TOO_MANY_REQUESTS) && error.cause instanceof StorageError)
