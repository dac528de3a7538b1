import { noteFault } from '../request/fault.ts'
import { apiVersionOf } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { managerOfUserAgent, trackUpdate } from '../patch/managed-fields.ts'
import { resetFieldsOf } from '../patch/reset-fields.ts'
import { convertVersion } from './convert-version.ts'
import type { ResourceScope } from './resource-scope.ts'
import { endpointKind, endpointType, hasStatus, storedAs } from './resource-scope.ts'

/** Writes into the object who owns which of its fields after this write. Without a manager the User-Agent names it. */
export function trackFields(
  scope: ResourceScope,
  live: KubeObject | undefined,
  object: KubeObject,
  manager: string,
): void {
  const { request, subresource } = scope
  const managedFields = trackUpdate({
    type: endpointType(scope),
    live,
    object,
    manager: manager !== '' ? manager : managerOfUserAgent(request.headers.get('User-Agent') ?? 'unknown'),
    apiVersion: apiVersionOf(endpointKind(scope)),
    subresource,
    now: request.now,
    resetFields: resetFieldsOf(storedAs(scope), subresource, hasStatus(scope), scope.custom, apiVersionOf(scope.kind)),
    convert: convertVersion(scope),
    failed: (error) => noteFault('managedFields', error, request),
  })
  if (managedFields === undefined) delete object.metadata.managedFields
  else object.metadata.managedFields = managedFields
}
