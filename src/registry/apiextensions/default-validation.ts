/**
 * A default in a schema must be a valid value of the schema and have no unknown fields (apiextensions'
 * schema/defaulting ValidateDefaults).
 */
import { errorsByName } from '../../validation/errors-of.ts'
import type { JSONSchemaProps } from '../../api/apiextensions/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { FieldPath, invalidValue, invalidValueText, messageOf } from '../../api/field.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { kept } from '../../base/parts.ts'
import { structuralOf } from '../../schema/from-openapi.ts'
import { pruneAny } from '../../schema/prune.ts'
import { stringifySorted } from '../../json/write-json.ts'
import { cloneInParts } from '../../json/clone-json.ts'
import { CoercionError, coerceEmbedded } from '../../codec/decode/decode-custom.ts'
import type { Structural } from '../../schema/structural.ts'
import { valuesEqualApart } from '../../json/value-order.ts'
import { validateEmbedded } from '../../validation/embedded-objects.ts'
import { withoutIntOrString } from '../../validation/value-types.ts'
import { validateValue } from '../../validation/value-validation.ts'
import type { RuleEngine } from '../custom-resources/rules.ts'
import { oneSchema } from './schema-validation.ts'

/** Runs the rules of a schema on its defaults. All defaults together have the cost limit of one object. */
export class DefaultRules {
  private remaining: number | undefined

  constructor(private readonly engine: RuleEngine) {}

  problems(schema: JsonObject, isRoot: boolean, value: Json, at: FieldPath): readonly FieldError[] {
    return kept(schema, () => this.found(schema, isRoot, value, at))
  }

  private found(schema: JsonObject, isRoot: boolean, value: Json, at: FieldPath): readonly FieldError[] {
    if (this.remaining !== undefined && this.remaining < 0) return []
    const tree = kept(schema, () => this.engine.ruleTreeOf(schema, isRoot))
    if (tree === undefined) return []
    const budget = this.remaining
    const run = (old?: Json) =>
      this.engine.validateByRules(tree, value, { at, old, ...(budget === undefined ? {} : { budget }) })
    const unchanged = run(value)
    // the rules must also hold if the default fills a field that had no value before
    const added = unchanged.errors.length === 0 ? run() : undefined
    this.remaining = Math.min(unchanged.remaining, added?.remaining ?? unchanged.remaining)
    return [...unchanged.errors, ...(added?.errors ?? [])]
  }
}

/** Where a schema describes a part of an object's metadata, apiVersion or kind. */
interface InMeta {
  /** The schema of the object. */
  readonly object: JSONSchemaProps
  /** The object whose only such part is a value of this schema. */
  around(value: Json): JsonObject
}

const META: readonly string[] = ['metadata', 'apiVersion', 'kind']

/** It skips schemas within additionalProperties, as kube-apiserver does. */
export function validateDefaults(
  schema: JSONSchemaProps | undefined,
  at: FieldPath,
  requiresPruned: boolean,
  rules: DefaultRules | undefined,
  outer?: InMeta,
  isObject = true,
): FieldError[] {
  if (schema === undefined) return []
  const isWhole = isObject || schema['x-kubernetes-embedded-resource'] === true
  const inMeta = isWhole ? undefined : outer
  const object = isObject ? kept(schema, () => ({ ...schema, 'x-kubernetes-embedded-resource': true })) : schema
  const value = schema.default
  const below = (name: string): InMeta | undefined => {
    if (inMeta !== undefined) return { ...inMeta, around: (part) => inMeta.around({ [name]: part }) }
    if (!isWhole || !META.includes(name)) return undefined
    return { object, around: (part) => ({ apiVersion: 'validation/v1', kind: 'Validation', [name]: part }) }
  }
  return [
    ...(value === undefined || value === null
      ? []
      : defaultProblems(
          object,
          value,
          at.child('default'),
          requiresPruned,
          (json, here) => rules?.problems(json, isWhole, value, here) ?? [],
          inMeta,
        )),
    ...validateDefaults(
      oneSchema(schema.items),
      at.child('items'),
      requiresPruned,
      rules,
      inMeta && { ...inMeta, around: (part) => inMeta.around([part]) },
      false,
    ),
    ...errorsByName(schema.properties ?? {}, (name) =>
      validateDefaults(
        ownValue(schema.properties!, name),
        at.child('properties').key(name),
        requiresPruned,
        rules,
        below(name),
        false,
      ),
    ),
  ]
}

function defaultProblems(
  schema: JSONSchemaProps,
  value: Json,
  at: FieldPath,
  requiresPruned: boolean,
  byRules: (schema: JsonObject, at: FieldPath) => readonly FieldError[],
  inMeta: InMeta | undefined,
): FieldError[] {
  // a schema is JSON, but its interface does not say so
  const json = schema as unknown as JsonObject
  const errors: FieldError[] = []
  if (requiresPruned && inMeta === undefined && !isPruned(schema, value))
    errors.push(invalidDefault(at, value, 'must not have unknown fields'))
  const shown = inMeta === undefined ? value : kept(schema, () => inMeta.around(value))
  const type = structuralOf((inMeta?.object ?? schema) as unknown as JsonObject)
  const here = inMeta === undefined ? at : FieldPath.root
  const coerced = kept(schema, () => coercedDefault(type, shown, here))
  const embedded = 'problem' in coerced ? [coerced.problem] : validateEmbedded(type, coerced.value, here, false)
  if (embedded.length > 0 && inMeta !== undefined)
    return [...errors, invalidDefault(at, value, `must result in valid metadata: ${messageOf(embedded)}`)]
  if (embedded.length > 0) return [...errors, ...embedded]
  const checked = inMeta === undefined && 'value' in coerced ? coerced.value : value
  const values = withoutIntOrString(() => validateValue(json, checked, at))
  return [...errors, ...(values.length > 0 ? values : byRules(json, at))]
}

/** Go writes the names of free JSON in order. */
const invalidDefault = (at: FieldPath, value: Json, detail: string): FieldError =>
  typeof value === 'object' ? invalidValueText(at, stringifySorted(value), detail) : invalidValue(at, value, detail)

/** The default with the normal metadata of its embedded objects, or the first that they cannot have. */
function coercedDefault(
  type: Structural | undefined,
  value: Json,
  at: FieldPath,
): { readonly value: Json } | { readonly problem: FieldError } {
  const copy = kept(value, () => cloneInParts(value))
  try {
    coerceEmbedded(type, copy)
    return { value: copy }
  } catch (error) {
    if (!(error instanceof CoercionError)) throw error
    return {
      problem: invalidValueText(at.child(error.path.replace(/^\./, '')), stringifySorted(error.value), error.why),
    }
  }
}

export const isPruned = (schema: JSONSchemaProps, value: Json): boolean =>
  kept(schema, () => {
    const copy = kept(value, () => cloneInParts(value))
    pruneAny(structuralOf(schema as unknown as JsonObject), copy)
    return valuesEqualApart(copy, value)
  })
