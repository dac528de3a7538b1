import { noteFault } from '../request/fault.ts'
import { apiVersionOf } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import type { Steps } from '../base/slices.ts'
import { tracking } from '../patch/managed-fields.ts'
import type { ResourceScope } from './resource-scope.ts'
import { endpointKind, endpointType } from './resource-scope.ts'

/** Writes managedFields into the object: the owner of each field after this write. */
export function* trackingFields(
  scope: ResourceScope,
  live: KubeObject | undefined,
  object: KubeObject,
  manager: string,
): Steps<void> {
  const {
    request,
    place: { subresource },
  } = scope
  const managedFields = yield* tracking({
    type: endpointType(scope),
    live,
    object,
    manager,
    apiVersion: apiVersionOf(endpointKind(scope)),
    subresource,
    now: request.now,
    resetFields: scope.resource.resetFields,
    convert: scope.resource.convertVersion(request),
    failed: (error) => noteFault('managedFields', error, request),
  })
  if (managedFields === undefined) delete object.metadata.managedFields
  else object.metadata.managedFields = managedFields
}
