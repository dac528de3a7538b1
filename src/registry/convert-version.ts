import { apiVersionOf, parseApiVersion } from '../api/group-version.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import type { ConvertVersion } from '../patch/managed-fields.ts'
import type { CustomResourceDefinition } from '../api/apiextensions/v1.ts'
import { converterBetween, isIdentity } from './conversion.ts'
import { compiledVersion, inVersion } from './custom-resources/compiled-versions.ts'
import { versionNamed } from './custom-resources/definition.ts'
import { builtInServed } from './served.ts'
import { builtInType } from '../schema/built-in.ts'
import type { ResourceScope } from './resource-scope.ts'

/** Between the versions of a kind, for owners that wrote in another one; a Scale has but one. */
export function convertVersion(scope: ResourceScope): ConvertVersion | undefined {
  if (scope.resource.view !== undefined) return undefined
  return scope.resource.entry.definition === undefined
    ? betweenBuiltIn(scope)
    : betweenCustom(scope, scope.resource.entry.definition)
}

/** Without asking a conversion webhook: fields are taken to have the same names. */
function betweenCustom(
  { request, resource: { kind } }: ResourceScope,
  definition: CustomResourceDefinition,
): ConvertVersion {
  return (object, apiVersion) => {
    const target = parseApiVersion(apiVersion)
    if (target?.group !== kind.group || versionNamed(definition, target.version) === undefined) return undefined
    const converted = inVersion(request.tenant, definition, asObject(object), target.version)
    const { type } = compiledVersion(request.tenant, definition, target.version)
    return { type, object: converted as unknown as JsonObject }
  }
}

function betweenBuiltIn({ request, resource: { kind, entry, storageKind } }: ResourceScope): ConvertVersion {
  return (object, apiVersion) => {
    const from = parseApiVersion(typeof object['apiVersion'] === 'string' ? object['apiVersion'] : '')
    const target = builtInServed(request.env).resources.resources.find(
      (other) =>
        apiVersionOf(other) === apiVersion &&
        // kube-apiserver converts within a group: an owner in another one (events) is forgotten
        other.group === kind.group &&
        other.kind === kind.kind &&
        other.storage.group === entry.storage.group &&
        other.storage.resource === entry.storage.resource,
    )
    if (from === undefined || target === undefined) return undefined
    const stored = converterBetween({ ...from, kind: kind.kind }, storageKind).toStorage(asObject(object))
    const converted = converterBetween({ ...target, kind: kind.kind }, storageKind).fromStorage(stored)
    return { type: builtInType(target.type), object: converted as unknown as JsonObject }
  }
}

/**
 * What conversion makes of a built-in object on its way into storage and back: an older version may lack a value that a
 * newer one fills in, and who writes owns that too.
 */
export const afterConversion = (scope: ResourceScope, object: KubeObject): KubeObject =>
  scope.resource.view === undefined && scope.resource.entry.definition === undefined && !isIdentity(scope.resource)
    ? scope.resource.fromStorage(scope.resource.toStorage(object))
    : object

// what is tracked is an object of its kind
const asObject = (object: JsonObject) => object as unknown as KubeObject
