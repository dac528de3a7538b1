import type { GroupResource } from '../api/group-version.ts'
import {
  alreadyExists,
  conflict,
  expired,
  internalError,
  notFound,
  OBJECT_HAS_CHANGED,
  requestEntityTooLarge,
  resourceVersionTooLarge,
  StatusError,
  tooManyRequests,
} from '../api/status.ts'
import { MIGRATED_BY_NEWER } from '../../migrations/newer.ts'
import type { StorageError } from './errors.ts'

/** Makes an error of storage a Status, whose cause it is. No other code does. */
export function statusFor(error: StorageError, resource: GroupResource, name: string): StatusError {
  return Object.assign(statusOf(error, resource, name), { cause: error })
}

function statusOf(error: StorageError, resource: GroupResource, name: string): StatusError {
  switch (error.code) {
    case 'KeyNotFound':
      return notFound(resource, name)
    case 'KeyExists':
      return alreadyExists(resource, name)
    case 'Conflict':
      return conflict(resource, name, OBJECT_HAS_CHANGED)
    case 'Compacted':
      return expired('The resourceVersion for the provided list is too old.')
    case 'FutureRevision':
      return resourceVersionTooLarge(error.revision, error.current, cacheless(resource) ? undefined : 1)
    case 'TooLarge':
      return requestEntityTooLarge(`limit is ${error.current}`)
    case 'SelectorTooLarge':
      return requestEntityTooLarge(`the selectors of a watch may have ${error.current} bytes as JSON`)
    case 'Overloaded':
      return tooManyRequests('the storage of this resource is overloaded, please try again', 1)
    case 'Unavailable':
      return notAvailable('the storage of this resource is not available at the moment', 1)
    // as kube-apiserver where etcd is out of space: code 500, without a hint to try again
    case 'Full':
      return internalError('the storage of this resource is full: no space left for this write')
    case 'Failed':
      return internalError('the storage of this resource failed')
    case 'Newer':
      return internalError(`the storage of this resource ${MIGRATED_BY_NEWER} of this server`)
    case 'Sealed':
      return internalError(`unable to transform the stored value of ${error.detail}`)
    case 'Uncertain':
      return timeout('the storage of this resource failed while it wrote: this may have been done or not')
    case 'Restoring':
      return notAvailable(BEING_RESTORED, 5)
    case 'Spent':
      return notAvailable('the server goes on with this in another invocation', 1)
    case 'Superseded':
      return conflictText('another restore of this control plane has begun')
  }
}

/** The message until the restore is finished or given up. */
const BEING_RESTORED =
  'the control plane is being restored from a backup and answers when all of it is there; should the restore have failed, it can be repeated (kedge restore FILE) or given up (kedge restore --abandon)'

const conflictText = (message: string): StatusError => new StatusError(409, 'Conflict', message, {})

/** 503 where nothing was done: clients try again by themselves. */
const notAvailable = (message: string, retryAfterSeconds: number): StatusError =>
  new StatusError(503, 'ServiceUnavailable', message, { retryAfterSeconds })

/** 504 without Retry-After: clients that tried again by themselves could find their own object in the way. */
const timeout = (message: string): StatusError => new StatusError(504, 'Timeout', message, {})

/** kube-apiserver has no watch cache for Events, so some answers have another text. */
export const cacheless = ({ resource }: GroupResource): boolean => resource === 'events'
