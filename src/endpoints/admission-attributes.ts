import type { Attributes, Operation } from '../admission/attributes.ts'
import { validateAdmission } from '../admission/chain.ts'
import type { KubeObject } from '../api/object.ts'
import type { Validating } from '../registry/store.ts'
import type { ResourceScope } from '../registry/resource-scope.ts'
import { endpointKind } from '../registry/resource-scope.ts'

/** @param objects in the storage version; those of a view, where the subresource is one */
export function admissionAttributes(
  scope: ResourceScope,
  operation: Operation,
  options: { readonly dryRun: boolean },
  objects: Pick<Attributes, 'object' | 'oldObject'>,
): Attributes {
  const { request, resource, subresource, namespace } = scope
  return {
    operation,
    resource,
    subresource,
    kind: endpointKind(scope),
    // a Namespace is its own namespace, for the rules of namespaces
    namespace:
      namespace !== '' || resource.resource !== 'namespaces'
        ? namespace
        : (objects.object?.metadata.name ?? scope.name),
    name: scope.name !== '' ? scope.name : (objects.object?.metadata.name ?? ''),
    ...objects,
    options,
    dryRun: options.dryRun,
    user: request.user,
    request,
  }
}

/** Validating admission, as the store calls it once the object is what it will be. */
export function validatingOf(
  scope: ResourceScope,
  operation: Operation,
  options: { readonly dryRun: boolean },
): Validating {
  return (object, oldObject) => {
    const objects = { object: seenThrough(scope, object), oldObject: oldObject && seenThrough(scope, oldObject) }
    return validateAdmission(
      admissionAttributes(scope, oldObject === undefined ? 'CREATE' : operation, options, objects),
    )
  }
}

/** Reading a view may fill in defaults, which are not for the object that is written. */
const seenThrough = ({ view, fromStorage }: ResourceScope, object: KubeObject): KubeObject =>
  view === undefined ? object : view.of(fromStorage(structuredClone(object)))
