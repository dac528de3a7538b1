/** Objects in the version in which somebody looks at them, whatever they are kept in. */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { converterBetween } from '../../registry/conversion.ts'
import { inVersion, servedForm } from '../../registry/custom-resources/compiled-versions.ts'
import { convertByWebhook, isConvertedByWebhook } from '../../registry/custom-resources/conversion-webhook.ts'
import { webhookConverter } from '../../registry/custom-resources/webhook-converter.ts'
import { asWritten } from '../../patch/managed-fields.ts'
import type { ApiCall } from '../../request/context.ts'
import type { ResourceEntry } from '../../registry/resources.ts'
import { typeOfKind } from '../../schema/built-in.ts'
import type { Tenant } from '../../storage/tenant.ts'

/**
 * @param entry of the resource in the version of `kind`
 * @param kind that of the resource; an object of another kind (Scale, Eviction) has one version and stays as it is
 * @throws StatusError where the webhook that converts it does not
 */
export async function inKind(
  request: ApiCall,
  entry: ResourceEntry,
  kind: GroupVersionKind,
  object: KubeObject,
): Promise<KubeObject> {
  const version = parseApiVersion(object.apiVersion ?? '')
  if (version === undefined || object.apiVersion === apiVersionOf(kind) || object.kind !== kind.kind) return object
  if (entry.definition !== undefined) return inCustomVersion(request, entry.definition, object, kind.version)
  const stored = { group: entry.storage.group, version: entry.storage.version, kind: entry.kind }
  const inStorage = converterBetween({ ...version, kind: entry.kind }, stored).toStorage(object)
  return apiVersionOf(stored) === apiVersionOf(kind) ? inStorage : converterBetween(kind, stored).fromStorage(inStorage)
}

async function inCustomVersion(
  request: ApiCall,
  definition: CustomResourceDefinition,
  object: KubeObject,
  version: string,
): Promise<KubeObject> {
  if (!isConvertedByWebhook(definition)) return inVersion(request.tenant, definition, object, version)
  const [converted] = await convertByWebhook(request, definition, [object], version, 'made')
  return converted!
}

/**
 * As expressions see it: what Go always writes is there, zero or null where nothing was said of it. Objects of custom
 * kinds are as they are.
 */
export function asSeen(object: KubeObject): KubeObject {
  const version = parseApiVersion(object.apiVersion ?? '')
  const type = version === undefined ? undefined : typeOfKind({ ...version, kind: object.kind ?? '' })
  // API objects are JSON
  return type === undefined ? object : (asWritten(type, object as unknown as JsonObject) as unknown as KubeObject)
}

/**
 * What was read from storage, as the version of the entry shows it.
 * @throws StatusError where the webhook that converts does not
 */
export async function asServed(
  request: ApiCall,
  entry: ResourceEntry,
  objects: readonly KubeObject[],
): Promise<readonly KubeObject[]> {
  const { definition, version } = entry
  if (definition !== undefined && isConvertedByWebhook(definition))
    return webhookConverter(request, definition, version).toServed(objects, 'stored')
  return objects.map((object) => servedAs(request.tenant, entry, object))
}

function servedAs(tenant: Tenant, entry: ResourceEntry, object: KubeObject): KubeObject {
  if (entry.definition !== undefined) return servedForm(tenant, entry.definition, object, entry.version)
  const stored = { group: entry.storage.group, version: entry.storage.version, kind: entry.kind }
  return converterBetween(entry, stored).fromStorage(object)
}
