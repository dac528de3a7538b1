/** Makes an admission chain the `Admission` that the write path calls (registry/write). */
import type { KubeObject } from '../api/object.ts'
import { managedFieldsProblem } from '../patch/managers.ts'
import type { ResourceScope } from '../registry/resource-scope.ts'
import { endpointKind } from '../registry/resource-scope.ts'
import type { AdmittedObjects, Admission } from '../registry/write/admission.ts'
import type { Undo } from '../registry/write/undo.ts'
import type { Attributes, Operation } from './attributes.ts'
import { isNamespaces } from './webhooks/rules.ts'

/** The steps of an admission chain. */
export interface Chain {
  admit(attributes: Attributes): Promise<void>
  validate(attributes: Attributes): Promise<Undo | undefined>
}

export const admissionBy = (chain: Chain): Admission => ({
  mutate: (scope, operation, options, objects) =>
    admitMutating(chain, admissionAttributes(scope, operation, options, objects)),
  validate: (scope, operation, options, { object, oldObject, final, named }) =>
    chain.validate(
      admissionAttributes(scope, operation, options, {
        object: object && seenThrough(scope, object),
        oldObject: oldObject && seenThrough(scope, oldObject),
        final,
        named,
      }),
    ),
})

/** @param objects in the storage version; for a subresource that is a view, the view's objects */
export function admissionAttributes(
  scope: ResourceScope,
  operation: Operation,
  options: { readonly dryRun: boolean },
  { named, ...objects }: Pick<Attributes, 'object' | 'oldObject' | 'final'> & Pick<AdmittedObjects, 'named'>,
): Attributes {
  const {
    request,
    resource: { gvr: resource },
    place: { subresource, namespace },
  } = scope
  // options of a CONNECT, which have no metadata, come with a name in the path
  const inObject = (): string => objects.object?.metadata.name ?? ''
  return {
    operation,
    resource,
    subresource,
    kind: endpointKind(scope),
    // for namespace rules a Namespace is in the namespace of its own name, unless that is generated
    namespace: namespace !== '' || !isNamespaces(resource) ? namespace : (named ?? (inObject() || scope.place.name)),
    name: scope.place.name || named || inObject(),
    ...objects,
    options,
    dryRun: options.dryRun,
    user: request.user,
    request,
  }
}

/** Runs mutating admission. Where it leaves invalid managedFields, those from before are restored. */
async function admitMutating(chain: Chain, attributes: Attributes): Promise<void> {
  const metadata = attributes.object?.metadata
  const before = metadata?.managedFields
  await chain.admit(attributes)
  const after = attributes.object?.metadata
  // an unchanged list is valid, because the server made it
  if (after?.managedFields === before) return
  const problem = managedFieldsProblem(after?.managedFields)
  if (after === undefined || problem === undefined) return
  if (before === undefined) delete after.managedFields
  else after.managedFields = before
  attributes.request.warnings.push(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
  )
}

/** The view of an object. It is made from a copy, because reading a view may set defaults that must not be written. */
const seenThrough = ({ resource: { view, fromStorage } }: ResourceScope, object: KubeObject): KubeObject =>
  view === undefined ? object : view.of(fromStorage(structuredClone(object)))
