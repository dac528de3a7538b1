/** Resources that show the same objects in other versions or groups (apimachinery's EquivalentResourceMapper). */
import type { GroupVersionKind, GroupVersionResource } from '../api/group-version.ts'
import type { ResourceEntry, ServedResources } from '../registry/served/resources.ts'
import { builtInServed } from '../registry/served/built-in-served.ts'
import { servedAt } from '../registry/served/served.ts'
import { controlSnapshot } from '../tenancy/control-snapshot.ts'
import type { Attributes } from './attributes.ts'

/** A resource in one version, and the kind of its objects there. */
export interface ResourceKind {
  readonly resource: GroupVersionResource
  readonly kind: GroupVersionKind
}

/** The equivalents of the request's resource, without the resource itself. */
export async function equivalentResources(attributes: Attributes): Promise<readonly ResourceKind[]> {
  const { request, resource, subresource } = attributes
  const served = servedAt(request.env, await controlSnapshot(request))
  const own = served.find(resource.group, resource.version, resource.resource)
  if (own === undefined) return []
  // custom resources share objects only within their group
  const candidates = builtInShowing(builtInServed(request.env).resources, own) ?? served.inGroup(own.group)
  return candidates.flatMap((other) => {
    const kind = other === own || !sameObjects(other, own) ? undefined : kindOf(other, subresource)
    const { group, version } = other
    return kind === undefined ? [] : [{ resource: { group, version, resource: other.resource }, kind }]
  })
}

const sameObjects = ({ storage: a }: ResourceEntry, { storage: b }: ResourceEntry): boolean =>
  a.group === b.group && a.resource === b.resource

/** Undefined where the resource has no such subresource. */
function kindOf({ group, version, kind, subresources }: ResourceEntry, name: string): GroupVersionKind | undefined {
  return name === '' ? { group, version, kind } : subresources.find((subresource) => subresource.name === name)
}

const byStorage = new WeakMap<ServedResources, ReadonlyMap<string, readonly ResourceEntry[]>>()

const storageText = ({ storage }: ResourceEntry): string => `${storage.group}/${storage.resource}`

/** The built-in resources with the same storage; undefined where there is none. */
function builtInShowing(builtIn: ServedResources, entry: ResourceEntry): readonly ResourceEntry[] | undefined {
  let index = byStorage.get(builtIn)
  if (index === undefined) byStorage.set(builtIn, (index = Map.groupBy(builtIn.resources, storageText)))
  return index.get(storageText(entry))
}
