/** Objects in the version in which somebody looks at them, whatever they are kept in. */
import type { GroupVersionKind } from '../../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { converterBetween } from '../../registry/conversion.ts'
import { inVersion, servedForm } from '../../registry/custom-resources/compiled-versions.ts'
import type { ResourceEntry } from '../../registry/resources.ts'
import type { Tenant } from '../../storage/tenant.ts'

/**
 * @param entry of the resource in the version of `kind`
 * @param kind that of the resource; an object of another kind (Scale, Eviction) has one version and stays as it is
 * @throws StatusError where a webhook would have to convert it
 */
export function inKind(tenant: Tenant, entry: ResourceEntry, kind: GroupVersionKind, object: KubeObject): KubeObject {
  const version = parseApiVersion(object.apiVersion ?? '')
  if (version === undefined || object.apiVersion === apiVersionOf(kind) || object.kind !== kind.kind) return object
  if (entry.definition !== undefined) return inVersion(tenant, entry.definition, object, kind.version)
  const stored = { group: entry.storage.group, version: entry.storage.version, kind: entry.kind }
  const inStorage = converterBetween({ ...version, kind: entry.kind }, stored).toStorage(object)
  return apiVersionOf(stored) === apiVersionOf(kind) ? inStorage : converterBetween(kind, stored).fromStorage(inStorage)
}

/** What was read from storage, as the version of the entry shows it. @throws StatusError where a webhook converts */
export function asServed(tenant: Tenant, entry: ResourceEntry, object: KubeObject): KubeObject {
  if (entry.definition !== undefined) return servedForm(tenant, entry.definition, object, entry.version)
  const stored = { group: entry.storage.group, version: entry.storage.version, kind: entry.kind }
  return converterBetween(entry, stored).fromStorage(object)
}
