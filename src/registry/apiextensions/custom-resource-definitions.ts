/** The strategy of CustomResourceDefinitions themselves (apiextensions' registry/customresourcedefinition). */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionStatus,
  JSONSchemaProps,
  WebhookConversion,
} from '../../api/apiextensions/v1.ts'
import { isKnownFormat } from '../../validation/value-formats.ts'
import { conditionOf, versionsOf } from '../custom-resources/definition.ts'
import { renewWatches } from '../custom-resources/renew-watches.ts'
import type { RuleEngine } from '../custom-resources/rules.ts'
import { definitionHasRules, loadRuleEngine } from '../custom-resources/rules.ts'
import { defaultRule } from '../../schema/default-rules.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import type { FieldError } from '../../api/field.ts'
import { inPartsAwaiting, kept, resuming, somePart } from '../../base/parts.ts'
import { turnOfOthers } from '../../base/slices.ts'
import { sentField } from '../../schema/emptied.ts'
import { timeText } from '../../schema/time.ts'
import { wasWritten } from '../served/written-types.ts'
import { customStorageOf, groupResourceNamed } from '../../storage/collections.ts'
import { someSchema } from './schemas-below.ts'
import { loadPatterns } from '../../validation/go-pattern.ts'
import { validateDefinition, validateDefinitionStatus, validateDefinitionUpdate } from './definition-validation.ts'
import { definitionWork } from './definition-work.ts'

/** While a definition has this finalizer, the server deletes its instances. */
export const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io'

export const customResourceDefinitions: BuiltInDefinition<CustomResourceDefinition> = {
  defaults: { v1: defaultRule<CustomResourceDefinition>(applyDefaults) },
  withoutTable: ['status'],
  work: definitionWork,
  hasGeneration: true,
  /** Storage has no `items` that are no schema. */
  isMoreThanStored: (definition) =>
    somePart(versionsOf(definition), ({ schema }) => {
      const root = schema?.openAPIV3Schema
      return root !== undefined && someSchema(root, hasItemsWithoutSchema)
    }),
  allowUnconditionalUpdate: false,
  storagePrefix: 'apiextensions.k8s.io/customresourcedefinitions',
  hasGenericMetadata: true,
  prepareForCreate(definition) {
    leaveOutWebhook(definition, namesNoVersion)
    definition.status = withStored(definition, {})
  },
  leavesNewMetadata: true,
  async validate(definition) {
    return validated(definition, (engine) => validateDefinition(definition, engine))
  },
  warningsOnCreate: (definition) => unknownFormats(definition).map(formatWarning),

  prepareForUpdate(definition, old) {
    leaveOutWebhook(definition, namesNoVersion)
    definition.status = withStored(definition, old.status ?? {})
  },
  async validateUpdate(definition, old) {
    return validated(definition, (engine) => validateDefinitionUpdate(definition, old, engine))
  },
  warningsOnUpdate(definition, old) {
    const before = new Set(unknownFormats(old))
    return unknownFormats(definition)
      .filter((format) => !before.has(format))
      .map(formatWarning)
  },

  /** The first DELETE only marks the definition, because the server deletes the instances first. */
  markFirst(definition, { now }) {
    const { metadata } = definition
    if (metadata.deletionTimestamp !== undefined) return false
    metadata.deletionTimestamp = timeText(now)
    if (!metadata.finalizers?.includes(CLEANUP)) metadata.finalizers = [...(metadata.finalizers ?? []), CLEANUP]
    setCondition(definition, now, {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    })
    return true
  },

  /** A kind without objects has few watchers. The controller ends their watches. */
  async afterUpdate(definition, old, context) {
    const isSame = definition.metadata.generation === old.metadata.generation
    const stored = customStorageOf(groupResourceNamed(definition.metadata.name ?? ''))
    if (!isSame && (await wasWritten(context, stored))) await renewWatches(context, definition)
  },

  subresources: {
    status: {
      validateUpdate: (definition) => validateDefinitionStatus(definition),
    },
  },
}

const hasItemsWithoutSchema = (schema: JSONSchemaProps): boolean =>
  schema.items === undefined && sentField(schema, 'items') !== undefined

/** Rules take long whatever the size of their definition: the server compiles them, and runs them on defaults. */
async function validated(
  definition: CustomResourceDefinition,
  validate: (engine: RuleEngine | undefined) => FieldError[],
): Promise<FieldError[]> {
  const inParts = resuming()
  await loadPatterns()
  const hasRules = inParts(() => definitionHasRules(definition))
  const engine = hasRules ? await loadRuleEngine() : undefined
  return engine === undefined
    ? inParts(() => validate(undefined))
    : inPartsAwaiting(() => validate(engine), turnOfOthers)
}

/** Adds the new storage version to status.storedVersions. */
function withStored(
  definition: CustomResourceDefinition,
  status: CustomResourceDefinitionStatus,
): CustomResourceDefinitionStatus {
  const stored = status.storedVersions ?? []
  const version = versionsOf(definition).find(({ storage }) => storage)
  if (version === undefined || stored.includes(version.name ?? '')) return status
  return { ...status, storedVersions: [...stored, version.name ?? ''] }
}

/** The time of a condition is the time at which its status last changed. */
export function setCondition(
  definition: CustomResourceDefinition,
  now: Date,
  condition: CustomResourceDefinitionCondition,
): void {
  const status = (definition.status ??= {})
  const old = conditionOf(definition, condition.type ?? '')
  const isSame = old?.status === condition.status && old?.lastTransitionTime !== undefined
  const written = { ...condition, lastTransitionTime: isSame ? old.lastTransitionTime : timeText(now) }
  status.conditions =
    old === undefined
      ? [...(status.conditions ?? []), written]
      : status.conditions!.map((other) => (other === old ? written : other))
}

const formatWarning = (format: string) => `unrecognized format ${JSON.stringify(format)}`

/** Formats in any version that validate no value. */
function unknownFormats(definition: CustomResourceDefinition): string[] {
  const found = kept(definition, (): string[] => [])
  for (const { schema } of versionsOf(definition))
    if (schema?.openAPIV3Schema)
      someSchema(schema.openAPIV3Schema, ({ format = '', type = '' }) => {
        if (!isKnownFormat(format, type === '' ? [] : [type])) found.push(format)
        return false
      })
  return found
}

/**
 * kube-apiserver's internal type has the members of `webhook`, but not `webhook`: without members it is gone. Storage
 * has no empty list of versions either.
 */
function leaveOutWebhook({ spec }: CustomResourceDefinition, hasNoVersions: (webhook: WebhookConversion) => boolean) {
  const { webhook } = spec?.conversion ?? {}
  if (webhook !== undefined && webhook.clientConfig === undefined && hasNoVersions(webhook))
    delete spec!.conversion!.webhook
}

const namesNoVersion = ({ conversionReviewVersions = [] }: WebhookConversion) => conversionReviewVersions.length === 0

function applyDefaults(definition: CustomResourceDefinition): void {
  leaveOutWebhook(definition, ({ conversionReviewVersions }) => conversionReviewVersions === undefined)
  const { spec, status } = definition
  if ((status!.storedVersions ?? []).length > 0) return
  const stored = spec!.versions?.find(({ storage }) => storage)
  if (stored !== undefined) status!.storedVersions = [stored.name ?? '']
}
