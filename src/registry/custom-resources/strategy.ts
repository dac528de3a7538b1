/** The strategy of custom resources (apiextensions' registry/customresource). */
import type { CustomResourceDefinition, CustomResourceSubresourceScale } from '../../api/apiextensions/v1.ts'
import type { FieldError, FieldErrorType } from '../../api/field.ts'
import { FieldPath, invalidValue, path } from '../../api/field.ts'
import type { GroupResource } from '../../api/group-version.ts'
import type { Json, JsonObject, KubeObject } from '../../api/object.ts'
import { goesInParts, inPartsAwaiting, resuming } from '../../base/parts.ts'
import { turnOfOthers } from '../../base/slices.ts'
import { isJsonObject } from '../../api/object.ts'
import type { StatusError } from '../../api/status.ts'
import { forbidden, invalid } from '../../api/status.ts'
import { firstResults } from '../../codec/table/json-path.ts'
import { JsonPathError } from '../../codec/table/parse-json-path.ts'
import { parseJsonPath } from '../../codec/table/parse-json-path.ts'
import { fieldText } from '../../storage/selectors/selection.ts'
import type { StructType } from '../../schema/structural.ts'
import { validateEmbedded } from '../../validation/embedded-objects.ts'
import { validateLists } from '../../validation/list-validation.ts'
import { loadPatterns, searchedAtOnce } from '../../validation/go-pattern.ts'
import { qualifiedNameProblems, subdomainName } from '../../validation/names.ts'
import { validateValue } from '../../validation/value-validation.ts'
import type { Strategy, StrategyContext } from '../strategy.ts'
import { versionNamed } from './definition.ts'
import type { Nested } from './nested.ts'
import { nestedInteger, nestedString, pathParts } from './nested.ts'
import type { RuleEngine } from './rules.ts'
import { validateAnyMeta } from '../../validation/object-meta.ts'
import { loadRuleEngine } from './rules.ts'

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])
const INT32_MAX = 2 ** 31 - 1

// an API object is JSON
const asJson = (object: KubeObject): JsonObject => object as unknown as JsonObject

export function customStrategy(
  definition: CustomResourceDefinition,
  version: string,
  type: StructType,
  schema: JsonObject | undefined,
  hasRules: boolean,
): Strategy {
  const { subresources, selectableFields = [] } = versionNamed(definition, version) ?? {}
  const scale = subresources?.scale
  const statusSchema = isJsonObject(schema?.['properties']) ? schema['properties']['status'] : undefined
  const fields = selectableFields.map(({ jsonPath = '' }) => ({
    name: jsonPath.replace(/^\./, ''),
    path: parseJsonPath(`{${jsonPath}}`),
  }))

  const bySchema = (object: KubeObject, old?: KubeObject): FieldError[] =>
    schema === undefined
      ? []
      : validateValue(
          schema,
          asJson(object),
          FieldPath.root,
          old === undefined ? undefined : { value: asJson(old), isWritten: true },
        )
  /**
   * Validation needs compiled patterns, and the first object waits for them. If the patterns of a small object take
   * long, validation goes in parts.
   */
  const withPatterns = async (check: () => FieldError[]): Promise<FieldError[]> => {
    const resume = resuming()
    if (schema !== undefined) await loadPatterns()
    return resume(() => (goesInParts() ? check() : (searchedAtOnce(check) ?? inPartsAwaiting(check, turnOfOthers))))
  }
  const byRules = rulesOfSchema(hasRules ? schema : undefined)
  const invariants = (object: KubeObject): FieldError[] => validateEmbedded(type, asJson(object), FieldPath.root)
  const lists = (object: KubeObject): FieldError[] => validateLists(type, asJson(object), FieldPath.root)

  const validateUpdate: Strategy['validateUpdate'] = async (object, old, context) =>
    byRules(
      await withPatterns(() => [
        ...kindProblems(object, definition),
        ...bySchema(object, old),
        ...scaleProblems(object, scale),
        ...invariants(object),
        ...(lists(old).length === 0 ? lists(object) : []),
      ]),
      context,
      object,
      old,
    )

  return {
    nameRule: subdomainName,
    hasGenericMetadata: true,
    hasGeneration: true,
    countsStatus: subresources?.status === undefined,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    unknownField: (field) => `field label not supported: ${field}`,

    // an error of the metadata may keep the rules from being checked
    leavesNewMetadata: true,
    validate: async (object, context) =>
      byRules(
        await withPatterns(() => [
          ...kindProblems(object, definition),
          ...validateAnyMeta(object.metadata, definition.spec?.scope === 'Namespaced', subdomainName),
          ...bySchema(object),
          ...scaleProblems(object, scale),
          ...invariants(object),
          ...lists(object),
        ]),
        context,
        object,
      ),

    validateUpdate,

    warningsOnCreate: ({ metadata }) => finalizerWarnings(metadata.finalizers ?? []),
    warningsOnUpdate: ({ metadata }, old) => {
      const before = new Set(old.metadata.finalizers)
      return finalizerWarnings((metadata.finalizers ?? []).filter((name) => !before.has(name)))
    },

    ...(fields.length === 0
      ? {}
      : {
          selectableFields: (object: KubeObject) =>
            Object.fromEntries(fields.map(({ name, path }) => [name, fieldText(found(path, object))])),
        }),

    subresources: {
      status: {
        prepareForUpdate(object, old) {
          const { managedFields } = object.metadata
          // a patch may have changed the kind
          if (old.kind !== undefined) object.kind = old.kind
          // a status update changes only managedFields in the metadata
          object.metadata = { ...structuredClone(old.metadata), resourceVersion: object.metadata.resourceVersion }
          if (managedFields === undefined) delete object.metadata.managedFields
          else object.metadata.managedFields = managedFields
        },
        async validateUpdate(object, old, context) {
          const status = asJson(object)['status']
          const before = asJson(old)['status']
          const values = (): FieldError[] =>
            status === undefined || !isJsonObject(statusSchema)
              ? []
              : validateValue(
                  statusSchema,
                  status,
                  path('status'),
                  before === undefined ? undefined : { value: before },
                )
          const errors = await withPatterns(() => [
            ...values(),
            ...scaleStatusProblems(object, scale),
            ...(lists(old).length === 0 ? lists(object) : []),
          ])
          return byRules(errors, context, object, old)
        },
      },
    },
  }
}

type Rules = (
  errors: readonly FieldError[],
  context: StrategyContext,
  object: KubeObject,
  old?: KubeObject,
) => Promise<readonly FieldError[]>

/**
 * After one of these errors the server evaluates no rules, because a value may not have the type that its schema
 * declares.
 */
const BLOCKING: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

/** Adds the errors of the schema's rules to the errors of an object. */
function rulesOfSchema(schema: JsonObject | undefined): Rules {
  if (schema === undefined) return async (errors) => errors
  let read: { readonly engine: RuleEngine; readonly tree: ReturnType<RuleEngine['ruleTreeOf']> } | undefined
  // concurrent requests may each compile the rules, so that no request waits for the turns of another one
  const rules = async () => {
    const engine = await loadRuleEngine()
    const tree = await inPartsAwaiting(() => engine.ruleTreeOf(schema, true), turnOfOthers)
    return (read ??= { engine, tree })
  }
  return async (errors, { warn }, object, old) => {
    const { engine, tree } = read ?? (await rules())
    if (tree === undefined) return errors
    if (errors.some(({ type }) => BLOCKING.has(type)))
      return [...errors, invalidValue(FieldPath.root, null, NOT_CHECKED)]
    const before = old === undefined ? {} : { old: asJson(old), ratchets: true }
    const found =
      engine.validateAtOnce(tree, asJson(object), before) ??
      (await inPartsAwaiting(() => engine.validateByRules(tree, asJson(object), before), turnOfOthers))
    for (const { field, message } of found.warnings) warn(`${field}: ${message}`)
    return [...errors, ...found.errors]
  }
}

const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

/** Refuses a create while the definition is terminating. */
export function withoutCreates(strategy: Strategy, resource: GroupResource): Strategy {
  return {
    ...strategy,
    prepareForCreate({ metadata }) {
      throw terminating(resource, metadata.name ?? '')
    },
  }
}

export const terminating = (resource: GroupResource, name: string): StatusError =>
  forbidden(resource, name, 'create not allowed while custom resource definition is terminating')

/** Checks the kind. No earlier step does. @throws 422, which names the kind of the object */
function kindProblems(object: KubeObject, { spec, status }: CustomResourceDefinition): never[] {
  const kind = status?.acceptedNames?.kind ?? ''
  if (object.kind === kind) return []
  throw invalid({ group: spec?.group ?? '', kind: object.kind ?? '' }, object.metadata.name ?? '', [
    invalidValue(path('kind'), object.kind ?? '', `must be ${kind}`),
  ])
}

function scaleProblems(object: KubeObject, scale: CustomResourceSubresourceScale | undefined): FieldError[] {
  if (scale === undefined) return []
  return [...replicaProblems(object, scale.specReplicasPath ?? ''), ...scaleStatusProblems(object, scale)]
}

function scaleStatusProblems(object: KubeObject, scale: CustomResourceSubresourceScale | undefined): FieldError[] {
  if (scale === undefined) return []
  const { statusReplicasPath = '', labelSelectorPath } = scale
  const errors = replicaProblems(object, statusReplicasPath)
  if (labelSelectorPath !== undefined) {
    const { error } = nestedString(object, pathParts(labelSelectorPath))
    if (error !== undefined) errors.push(invalidValue(path(labelSelectorPath), '', error))
  }
  return errors
}

function replicaProblems(object: KubeObject, at: string): FieldError[] {
  const { value = 0, error }: Nested<number> = nestedInteger(object, pathParts(at))
  if (error !== undefined) return [invalidValue(path(at), 0, error)]
  if (value < 0) return [invalidValue(path(at), value, 'should be a non-negative integer')]
  return value > INT32_MAX ? [invalidValue(path(at), value, `should be less than or equal to ${INT32_MAX}`)] : []
}

function finalizerWarnings(added: readonly string[]): string[] {
  return [...added].sort().flatMap((name) => {
    const warnings = qualifiedNameProblems(name)
    if (!name.includes('/') && !STANDARD_FINALIZERS.has(name))
      warnings.push(
        `prefer a domain-qualified finalizer name ${name.includes('.') ? 'including a path (/) ' : ''}to avoid accidental conflicts with other finalizer writers`,
      )
    return warnings.map((warning) => `metadata.finalizers: ${JSON.stringify(name)}: ${warning}`)
  })
}

function found(at: ReturnType<typeof parseJsonPath>, object: KubeObject): Json | undefined {
  try {
    return firstResults(at, asJson(object))[0]
  } catch (error) {
    if (error instanceof JsonPathError) return undefined
    throw error
  }
}
