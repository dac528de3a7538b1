import { builtInForms, customForms } from '../codec/resource-forms.ts'
import type { CustomResourceDefinition } from '../api/apiextensions/v1.ts'
import type { GroupVersionKind, GroupVersionResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { converterBetween } from './conversion.ts'
import { collectionOf } from '../storage/collections.ts'
import { compiledVersion, currentForm, inVersion, servedForm } from './custom-resources/compiled-versions.ts'
import { checkConversion, isConvertedByWebhook } from './custom-resources/conversion-webhook.ts'
import { webhookConverter } from './custom-resources/webhook-converter.ts'
import { isTerminating, versionNamed } from './custom-resources/definition.ts'
import { withoutCreates } from './custom-resources/strategy.ts'
import { customScaleView } from './custom-resources/scale-view.ts'
import type { ResourceEntry } from './resources.ts'
import { builtInServedBy } from './built-in-served.ts'
import { builtInServed } from './served.ts'
import { strategyOf } from './strategies.ts'
import type { ApiCall } from '../request/context.ts'
import { API_SERVER } from '../request/user-info.ts'
import { builtInType, typeOfKind } from '../schema/built-in.ts'
import { storageOf } from '../storage/environment-storage.ts'
import { noticingControlWrites } from '../tenancy/control-snapshot.ts'
import { scaleView } from './scale.ts'
import type { Place, ResourceScope } from './resource-scope.ts'

/** Puts together what the verbs need to know of a resource and of the place in it that the request is about. */
export function resourceScope<Call extends ApiCall>(
  request: Call,
  entry: ResourceEntry,
  { name, subresource, namespace }: Place,
): ResourceScope<Call> {
  const { group, version, resource } = entry
  const kind: GroupVersionKind = { group, version, kind: entry.kind }
  const storageKind: GroupVersionKind = { group: entry.storage.group, version: entry.storage.version, kind: entry.kind }
  const storage = noticingControlWrites(storageOf(request.env))
  const { gates } = builtInServed(request.env)
  return {
    request,
    entry,
    resource: { group, version, resource },
    kind,
    subresource,
    namespaced: entry.namespaced,
    namespace: entry.namespaced ? namespace : '',
    name,
    custom: entry.origin === 'custom',
    storageKind,
    ...(entry.definition === undefined
      ? builtInParts(entry, kind, storageKind, subresource)
      : customParts(request, entry, entry.definition, subresource)),
    collection: collectionOf(request.tenant, { group: entry.storage.group, resource: entry.storage.resource }),
    storage,
    strategyContext: (dryRun) => ({
      user: request.user,
      now: request.now,
      namespace,
      apiVersion: group === '' ? version : `${group}/${version}`,
      dryRun,
      tenant: request.tenant,
      env: request.env,
      storage,
      beside: (resource, within = '') => serverScope(request, resource, { namespace: within }),
      enabled: gates.enabled,
      warn: (text) => void request.warnings.push(text),
    }),
    enabled: gates.enabled,
  }
}

/**
 * Of what the server itself writes while it serves a call: its warnings, its audit and its options are not those of the
 * call.
 * @param resource a built-in one, which need not be served
 */
export function serverScope(
  call: ApiCall,
  { group, version, resource }: GroupVersionResource,
  { namespace = '', name = '', subresource = '' }: Partial<Place> = {},
): ResourceScope {
  const { resources } = builtInServed(call.env)
  const entry =
    resources.find(group, version, resource) ?? builtInServedBy('', '').resources.find(group, version, resource)
  if (entry === undefined) throw new Error(`assertion failed: ${resource} are built in`)
  const { query: _, ...about } = call
  const own: ApiCall = { ...about, user: API_SERVER, warnings: [], record: undefined }
  return resourceScope(own, entry, { name, subresource, namespace })
}

type Parts = Pick<
  ResourceScope,
  | 'forms'
  | 'type'
  | 'storageType'
  | 'view'
  | 'toStorage'
  | 'fromStorage'
  | 'strategy'
  | 'currentForm'
  | 'checkConvertible'
  | 'converter'
  | 'storedAsServed'
>

/** Nothing of them is of a request. Bound: the subresources of the entry. */
const partsOf = new WeakMap<ResourceEntry, Map<string, Parts>>()

function builtInParts(
  entry: ResourceEntry,
  kind: GroupVersionKind,
  storageKind: GroupVersionKind,
  subresource: string,
): Parts {
  let bySubresource = partsOf.get(entry)
  if (bySubresource === undefined) partsOf.set(entry, (bySubresource = new Map()))
  let parts = bySubresource.get(subresource)
  if (parts === undefined)
    bySubresource.set(subresource, (parts = makeBuiltInParts(entry, kind, storageKind, subresource)))
  return parts
}

function makeBuiltInParts(
  entry: ResourceEntry,
  kind: GroupVersionKind,
  storageKind: GroupVersionKind,
  subresource: string,
): Parts {
  const type = builtInType(entry.type)
  return {
    forms: builtInForms,
    type,
    storageType: typeOfKind(storageKind) ?? type,
    ...(subresource === 'scale' ? { view: scaleView } : {}),
    ...converterBetween(kind, storageKind),
    strategy: strategyOf({ group: entry.storage.group, resource: entry.storage.resource }),
    currentForm: (object) => object,
    storedAsServed: kind.version === storageKind.version && kind.group === storageKind.group,
  }
}

/** Unlike built-in kinds, custom ones are validated in the version of the request. */
function customParts(
  request: ApiCall,
  { group, version, kind, resource, storage }: ResourceEntry,
  definition: CustomResourceDefinition,
  subresource: string,
): Parts & Partial<Pick<ResourceScope, 'storageKind'>> {
  const { tenant } = request
  const { type, strategy } = compiledVersion(tenant, definition, version)
  const isConverted = isConvertedByWebhook(definition)
  const scale = versionNamed(definition, version)?.subresources?.scale
  const current = (object: KubeObject) => currentForm(tenant, definition, object)
  return {
    forms: customForms,
    type,
    storageType:
      isConverted || version === storage.version ? type : compiledVersion(tenant, definition, storage.version).type,
    ...(subresource === 'scale' && scale !== undefined
      ? { view: customScaleView(scale, definition.spec?.group ?? '') }
      : {}),
    toStorage: (object) => (isConverted ? object : inVersion(tenant, definition, object, storage.version)),
    fromStorage: (object) => servedForm(tenant, definition, object, version),
    ...(isConverted
      ? {
          storageKind: { group, version, kind },
          checkConvertible: (object: KubeObject) => checkConversion(definition, object, version),
          converter: webhookConverter(request, definition, version),
        }
      : {}),
    strategy: isTerminating(definition) ? withoutCreates(strategy, { group, resource }) : strategy,
    currentForm: current,
    // What was written under another state of the definition may not be what it says now; a status is dropped when its
    // object is created, and gets its default when it is read.
    storedAsServed:
      definition.metadata.generation === 1 &&
      version === storage.version &&
      type.field('status')?.default === undefined,
  }
}
