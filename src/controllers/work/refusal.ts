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

/**
 * Whether it is an error of this code, with what one object says. The next try would have it as well, so work for many
 * objects goes on with the others.
 */
export const isFault = (error: unknown): error is RangeError | TypeError =>
  error instanceof RangeError || error instanceof TypeError
