import type { GroupResource } from '../api/group-version.ts'
import {
  alreadyExists,
  conflict,
  expired,
  notFound,
  OBJECT_HAS_CHANGED,
  requestEntityTooLarge,
  resourceVersionTooLarge,
  serviceUnavailable,
  StatusError,
  tooManyRequests,
} from '../api/status.ts'
import type { StorageError } from '../storage/errors.ts'

/** The one place where what went wrong in storage becomes an answer of the API. */
export function statusFor(error: StorageError, resource: GroupResource, name: string): StatusError {
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
    case 'Overloaded':
      return tooManyRequests('the storage of this resource is overloaded, please try again', 1)
    case 'Unavailable':
      return serviceUnavailable('the storage of this resource is not available at the moment')
  }
}

/** Events have no watch cache in the reference: some answers are worded otherwise. */
export const cacheless = ({ resource }: GroupResource): boolean => resource === 'events'
