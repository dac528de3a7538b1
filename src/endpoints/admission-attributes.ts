import type { Attributes, Operation } from '../admission/attributes.ts'
import { validateAdmission } from '../admission/chain.ts'
import type { Validating } from '../registry/store.ts'
import type { ResourceScope } from '../registry/resource-scope.ts'

export function admissionAttributes(
  scope: ResourceScope,
  operation: Operation,
  options: { readonly dryRun: boolean },
  objects: Pick<Attributes, 'object' | 'oldObject'>,
): Attributes {
  const { request, resource, kind, subresource, namespace } = scope
  return {
    operation,
    resource,
    subresource,
    kind,
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
  return (object, oldObject) =>
    validateAdmission(
      admissionAttributes(scope, oldObject === undefined ? 'CREATE' : operation, options, { object, oldObject }),
    )
}
