import type { GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../api/group-version.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { builtInForms, builtInFormsWithoutTable } from '../codec/built-in-forms.ts'
import type { ConvertVersion } from '../patch/object-versions.ts'
import { everything, withoutSpec, withoutStatus } from '../patch/reset-fields.ts'
import type { ResetFields } from '../patch/reset-fields.ts'
import type { ApiCall } from '../request/context.ts'
import { builtInType, typeOfKind } from '../schema/built-in.ts'
import { converterBetween, isIdentity } from './conversion.ts'
import type { Resource } from './resource.ts'
import { hasStatus } from './resource.ts'
import type { ResourceEntry } from './served/resources.ts'
import { scaleView } from './scale.ts'
import { builtInServed } from './served/built-in-served.ts'
import { definitionOf } from './definitions.ts'
import type { Strategy } from './strategy.ts'

/** These values hold no data of a request. Bound: the subresources of the entry. */
const resources = new WeakMap<ResourceEntry, Map<string, Resource>>()

export function builtInResource(entry: ResourceEntry, subresource: string): Resource {
  let bySubresource = resources.get(entry)
  if (bySubresource === undefined) resources.set(entry, (bySubresource = new Map()))
  let resource = bySubresource.get(subresource)
  if (resource === undefined) bySubresource.set(subresource, (resource = makeResource(entry, subresource)))
  return resource
}

function makeResource(entry: ResourceEntry, subresource: string): Resource {
  const { group, version, resource, storage } = entry
  const kind: GroupVersionKind = { group, version, kind: entry.kind }
  const storageKind: GroupVersionKind = { group: storage.group, version: storage.version, kind: entry.kind }
  const type = builtInType(entry.type)
  const definition = definitionOf(storage)
  const converter = converterBetween(kind, storageKind, definition.conversions)
  const view = subresource === 'scale' ? scaleView : undefined
  const endpoint = ownValue(definition.endpoints, subresource)
  const defaults = ownValue(definition.defaults, version)
  return {
    entry,
    gvr: { group, version, resource },
    kind,
    namespaced: entry.namespaced,
    forms: definition.withoutTable?.includes(subresource) ? builtInFormsWithoutTable : builtInForms,
    presentation: definition,
    type,
    storageKind,
    storageType: typeOfKind(storageKind) ?? type,
    ...(view && { view }),
    ...(defaults && { kindDefaults: { type: entry.type, apply: defaults } }),
    ...converter,
    inVersion: async (object, wanted) => {
      const made = parseApiVersion(object.apiVersion ?? '')
      if (made === undefined) return object
      const stored = converterBetween(made, storage, definition.conversions).toStorage(object)
      return converterBetween(wanted, storage, definition.conversions).fromStorage(stored)
    },
    strategy: subresource === 'status' ? undecorated(definition) : definition,
    ...(endpoint && { endpoint }),
    workRules: definition,
    currentForm: (object) => object,
    storedAsServed: kind.version === storageKind.version && kind.group === storageKind.group,
    resetFields: builtInResetFields(definition, hasStatus(entry), subresource),
    storagePrefix: definition.storagePrefix ?? resource,
    convertVersion: (call) => (view === undefined ? betweenVersions(call, entry) : undefined),
    afterConversion: (object) =>
      view !== undefined || isIdentity(converter) ? object : converter.fromStorage(converter.toStorage(object)),
  }
}

/** kube-apiserver copies the store of a resource for its status before the store gets its decorator. */
function undecorated({ decorator: _, ...strategy }: Strategy): Strategy {
  return strategy
}

/** @param withStatus the resource has the subresource `status` */
export function builtInResetFields(
  { resetFields = {} }: Strategy,
  withStatus: boolean,
  subresource: string,
): ResetFields {
  const declared = ownValue(resetFields, subresource)
  if (declared !== undefined) return declared
  if (subresource === 'status') return withoutSpec
  return subresource === '' && withStatus ? withoutStatus : everything
}

function betweenVersions({ env }: ApiCall, { group, kind, storage }: ResourceEntry): ConvertVersion {
  const { conversions } = definitionOf(storage)
  return (object, apiVersion) => {
    const from = parseApiVersion(typeof object['apiVersion'] === 'string' ? object['apiVersion'] : '')
    const target = builtInServed(env).resources.resources.find(
      (other) =>
        apiVersionOf(other) === apiVersion &&
        // kube-apiserver converts within a group. It forgets a field manager that wrote in another group (events).
        other.group === group &&
        other.kind === kind &&
        other.storage.group === storage.group &&
        other.storage.resource === storage.resource,
    )
    if (from === undefined || target === undefined) return undefined
    // field managers own fields of this kind only
    const tracked = object as unknown as KubeObject
    const stored = converterBetween(from, storage, conversions).toStorage(tracked)
    const converted = converterBetween(target, storage, conversions).fromStorage(stored)
    return { type: builtInType(target.type), object: converted as unknown as JsonObject }
  }
}
