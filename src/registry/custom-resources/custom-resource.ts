import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { customForms } from '../../codec/resource-forms.ts'
import type { ApiCall } from '../../request/context.ts'
import type { Resource } from '../resource.ts'
import type { ResourceEntry } from '../resources.ts'
import { compiledVersion, currentForm, inVersion, servedForm } from './compiled-versions.ts'
import { checkConversion, isConvertedByWebhook } from './conversion-webhook.ts'
import { isTerminating, versionNamed } from './definition.ts'
import { customScaleView } from './scale-view.ts'
import { withoutCreates } from './strategy.ts'
import { webhookConverter } from './webhook-converter.ts'

/** Unlike built-in kinds, custom ones are validated in the version of the request. */
export function customResource(
  request: ApiCall,
  entry: ResourceEntry,
  definition: CustomResourceDefinition,
  subresource: string,
): Resource {
  const { group, version, resource, storage } = entry
  const { tenant } = request
  const { type, strategy } = compiledVersion(tenant, definition, version)
  const kind: GroupVersionKind = { group, version, kind: entry.kind }
  const isConverted = isConvertedByWebhook(definition)
  const scale = versionNamed(definition, version)?.subresources?.scale
  return {
    entry,
    gvr: { group, version, resource },
    kind,
    namespaced: entry.namespaced,
    forms: customForms,
    custom: true,
    type,
    storageType:
      isConverted || version === storage.version ? type : compiledVersion(tenant, definition, storage.version).type,
    ...(subresource === 'scale' && scale !== undefined
      ? { view: customScaleView(scale, definition.spec?.group ?? '') }
      : {}),
    toStorage: (object) => (isConverted ? object : inVersion(tenant, definition, object, storage.version)),
    fromStorage: (object) => servedForm(tenant, definition, object, version),
    storageKind: isConverted ? kind : { group: storage.group, version: storage.version, kind: entry.kind },
    ...(isConverted
      ? {
          checkConvertible: (object: KubeObject) => checkConversion(definition, object, version),
          converter: webhookConverter(request, definition, version),
        }
      : {}),
    strategy: isTerminating(definition) ? withoutCreates(strategy, { group, resource }) : strategy,
    currentForm: (object) => currentForm(tenant, definition, object),
    // What was written under another state of the definition may not be what it says now; a status is dropped when its
    // object is created, and gets its default when it is read.
    storedAsServed:
      definition.metadata.generation === 1 &&
      version === storage.version &&
      type.field('status')?.default === undefined,
  }
}
