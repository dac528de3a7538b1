import { apiVersionOf, parseApiVersion } from '../api/group-version.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import type { ConvertVersion } from '../patch/managed-fields.ts'
import { converterBetween } from '../registry/conversion.ts'
import { builtInServed } from '../registry/served.ts'
import { builtInType } from '../schema/built-in.ts'
import type { ResourceScope } from './resource-scope.ts'

/** Between the served versions of a built-in kind, for owners that wrote in another one; a Scale has but one. */
export function convertVersion({ request, kind, entry, storageKind, view }: ResourceScope): ConvertVersion | undefined {
  if (view !== undefined || entry.origin === 'custom') return undefined
  return (object, apiVersion) => {
    const from = parseApiVersion(typeof object['apiVersion'] === 'string' ? object['apiVersion'] : '')
    const target = builtInServed(request.env).resources.resources.find(
      (other) =>
        apiVersionOf(other) === apiVersion &&
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

// what is tracked is an object of its kind
const asObject = (object: JsonObject) => object as unknown as KubeObject
