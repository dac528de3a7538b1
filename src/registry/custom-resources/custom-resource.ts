import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import type { GroupResource, GroupVersionKind } from '../../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { plainError } from '../../api/status.ts'
import { customForms, customScaleForms } from '../../codec/custom-forms.ts'
import type { Presentation } from '../../codec/encode/presentation.ts'
import { goQuote } from '../../go/quote.ts'
import { customKindType } from '../../schema/from-openapi.ts'
import { everything, withoutSpecAndMetadata, withoutStatus } from '../../patch/reset-fields.ts'
import type { ResetFields } from '../../patch/reset-fields.ts'
import type { ApiCall } from '../../request/context.ts'
import { controlPlaneRules, isOfControlPlanes, withControlPlaneChecks } from '../control-planes.ts'
import { isOfStages, stageRules, withStageWarnings } from '../simulation/stage-work.ts'
import type { Strategy } from '../strategy.ts'
import type { Resource } from '../resource.ts'
import type { ResourceEntry } from '../served/resources.ts'
import type { WorkRules } from '../work/work.ts'
import { compiledVersion, currentForm, inVersion, servedForm } from './compiled-versions.ts'
import { checkConversion, convertByWebhook, isConvertedByWebhook } from './conversion-webhook.ts'
import { isTerminating, versionNamed } from './definition.ts'
import { betweenVersions } from './between-versions.ts'
import { customScaleView } from './scale-view.ts'
import { renamingConverter } from './renaming-converter.ts'
import { selectableField } from './selectable-field.ts'
import { withoutCreates } from './strategy.ts'
import { announceWatch } from './watched-kinds.ts'
import { webhookConverter } from './webhook-converter.ts'

/**
 * The definition has all columns of its objects' tables. Only Stages and ControlPlanes have controllers of their own,
 * so other custom resources need no work rules.
 */
const NOTHING: Presentation & WorkRules = Object.freeze({})

/**
 * The server admits and validates custom resources in the version of the request, and built-in kinds in the storage
 * version.
 */
export function customResource(
  request: ApiCall,
  entry: ResourceEntry,
  definition: CustomResourceDefinition,
  subresource: string,
): Resource {
  const { group, version, resource, storage } = entry
  const { tenant } = request
  const { type, strategy, hasDefaults, makesLarge, growth } = compiledVersion(tenant, definition, version)
  if (makesLarge) request.isLarge = true
  request.growth = growth.perUnit
  const kind: GroupVersionKind = { group, version, kind: entry.kind }
  const isConverted = isConvertedByWebhook(definition)
  /** Until its write an object has the version of the request, by whose schema the server validates it. */
  const staysServed = isConverted || version !== storage.version
  const scale = versionNamed(definition, version)?.subresources?.scale
  const view =
    subresource === 'scale' && scale !== undefined ? customScaleView(scale, definition.spec?.group ?? '') : undefined
  return {
    entry,
    gvr: { group, version, resource },
    kind,
    namespaced: entry.namespaced,
    forms: view === undefined ? customForms : customScaleForms,
    type,
    storageType: type,
    typeOfVersion: (said) =>
      said === version || versionNamed(definition, said) !== undefined
        ? compiledVersion(tenant, definition, said).type
        : customKindType('', { ...kind, version: said }, { type: 'object' }, false),
    ...(view && { view }),
    toStorage: (object) => object,
    fromStorage: (object) => servedForm(tenant, definition, object, version),
    inVersion: async (object, wanted) => {
      checkVersions(definition, object, wanted)
      if (!isConverted) return inVersion(tenant, definition, object, wanted.version)
      const [converted] = await convertByWebhook(request, definition, [object], wanted.version, 'made')
      return converted!
    },
    storageKind: kind,
    ...(isConverted && { checkConvertible: (object: KubeObject) => checkConversion(definition, object, version) }),
    ...(staysServed && {
      converter: (isConverted ? webhookConverter : renamingConverter)(request, definition, version),
    }),
    fieldAt: (field) => selectableField(compiledVersion(tenant, definition, storage.version).type, field),
    strategy: strategyOf(withOwnRules(entry, strategy), definition, { group, resource }),
    ...(entry.endpoint && { endpoint: entry.endpoint }),
    presentation: NOTHING,
    workRules: isOfStages(entry) ? stageRules : isOfControlPlanes(entry) ? controlPlaneRules : NOTHING,
    ...(definition.metadata.uid === undefined ? {} : { definitionUid: definition.metadata.uid }),
    announceWatch: (call) => announceWatch(call, definition, entry),
    currentForm: (object) => currentForm(tenant, definition, object),
    // A stored text may not fit a later state of the definition. Defaults differ, too: a create drops the status, and a
    // write in another version sets those of that version; a read sets the missing ones.
    growth,
    storedAsServed:
      definition.metadata.generation === 1 &&
      version === storage.version &&
      !(hasDefaults && hasOtherVersions(definition)) &&
      type.field('status')?.default === undefined,
    resetFields: customResetFields(apiVersionOf(entry), subresource, (version) => hasStatusIn(definition, version)),
    storagePrefix: `${group}/${resource}`,
    convertVersion: () => (view === undefined ? betweenVersions(request, definition) : undefined),
    afterConversion: (object) => object,
  }
}

/** A policy or a webhook may have changed the object's version. @throws StatusError 500 */
function checkVersions(definition: CustomResourceDefinition, object: KubeObject, wanted: GroupVersionKind): void {
  const { apiVersion = '', kind = '' } = object
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' }
  if (group !== wanted.group)
    throw plainError(
      `${group}/${version}, Kind=${kind} is unstructured and is not suitable for converting to ${goQuote(apiVersionOf(wanted))}`,
    )
  if (versionNamed(definition, version) === undefined)
    throw plainError(`request to convert CR from an invalid group/version: ${apiVersion}`)
}

function hasStatusIn(definition: CustomResourceDefinition, apiVersion: string): boolean {
  const { group, version = '' } = parseApiVersion(apiVersion) ?? {}
  return group === definition.spec?.group && versionNamed(definition, version)?.subresources?.status !== undefined
}

const hasOtherVersions = ({ spec }: CustomResourceDefinition): boolean => (spec?.versions?.length ?? 0) > 1

/** Adds the checks of Stages and ControlPlanes, which this server runs itself. */
function withOwnRules(entry: ResourceEntry, strategy: Strategy): Strategy {
  if (isOfControlPlanes(entry)) return withControlPlaneChecks(strategy, entry.namespaced)
  return isOfStages(entry) ? withStageWarnings(strategy) : strategy
}

const strategyOf = (strategy: Strategy, definition: CustomResourceDefinition, resource: GroupResource): Strategy =>
  isTerminating(definition) ? withoutCreates(strategy, resource) : strategy

/**
 * kube-apiserver resets fields of the main resource only in the version of the request, and those of a status in all
 * versions with this subresource.
 * @param apiVersion the version of the request
 * @param hasStatusIn whether an apiVersion of the kind has the status subresource
 */
export function customResetFields(
  apiVersion: string,
  subresource: string,
  hasStatusIn: (apiVersion: string) => boolean,
): ResetFields {
  if (subresource === 'status') return (version) => (hasStatusIn(version) ? withoutSpecAndMetadata(version) : undefined)
  if (subresource !== '' || !hasStatusIn(apiVersion)) return everything
  return (version) => (version === apiVersion ? withoutStatus(version) : undefined)
}
