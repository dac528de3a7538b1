import type { GroupVersionKind } from '../api/group-version.ts'
import { builtInForms } from '../codec/resource-forms.ts'
import { builtInType, typeOfKind } from '../schema/built-in.ts'
import { converterBetween } from './conversion.ts'
import type { Resource } from './resource.ts'
import type { ResourceEntry } from './resources.ts'
import { scaleView } from './scale.ts'
import { strategyOf } from './strategies.ts'

/** Nothing of them is of a request. Bound: the subresources of the entry. */
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
  return {
    entry,
    gvr: { group, version, resource },
    kind,
    namespaced: entry.namespaced,
    forms: builtInForms,
    custom: false,
    type,
    storageKind,
    storageType: typeOfKind(storageKind) ?? type,
    ...(subresource === 'scale' ? { view: scaleView } : {}),
    ...converterBetween(kind, storageKind),
    strategy: strategyOf({ group: storage.group, resource: storage.resource }),
    currentForm: (object) => object,
    storedAsServed: kind.version === storageKind.version && kind.group === storageKind.group,
  }
}
