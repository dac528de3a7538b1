import type { KubeObject } from '../../api/object.ts'
import { badRequest } from '../../api/status.ts'
import { walked } from '../../request/turns.ts'
import { dropDuplicateOwners } from './owner-references.ts'
import type { ResourceScope } from '../resource-scope.ts'

/**
 * Sets the metadata of a new object before all other steps (apiserver's create handler).
 * @param keepsSystemFields the system fields in the body refer to another object (bindings, tokens)
 * @throws 400 if the namespace is not that of the path
 */
export async function prepareNewMetadata(
  scope: ResourceScope,
  object: KubeObject,
  { keepsSystemFields = false }: { readonly keepsSystemFields?: boolean } = {},
): Promise<void> {
  if (!keepsSystemFields) wipeSystemFields(object)
  putInNamespaceOfPath(scope, object)
  await walked(scope.request, () => dropDuplicateOwners(object, scope.request.warnings, 'as sent'))
}

/** Removes the fields that only the server sets. The field manager of the write does not own them either. */
function wipeSystemFields({ metadata }: KubeObject): void {
  delete metadata.uid
  delete metadata.creationTimestamp
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
}

function putInNamespaceOfPath(
  { resource: { namespaced }, place: { namespace } }: ResourceScope,
  { metadata }: KubeObject,
): void {
  if (!namespaced) {
    delete metadata.namespace
    return
  }
  if (metadata.namespace && metadata.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  metadata.namespace = namespace
}
