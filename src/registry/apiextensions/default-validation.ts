/**
 * A default in a schema must be a valid value of the schema and have no unknown fields (apiextensions'
 * schema/defaulting ValidateDefaults).
 */
import { errorsByName } from '../../validation/errors-of.ts'
import type { JSONSchemaProps } from '../../api/apiextensions/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue } from '../../api/field.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import { ownValue } from '../../api/own.ts'
import { kept } from '../../api/parts.ts'
import { structuralOf } from '../../schema/from-openapi.ts'
import { pruneAny } from '../../schema/prune.ts'
import { valuesEqual } from '../../api/value-order.ts'
import { validateEmbedded } from '../../validation/embedded-objects.ts'
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

/** It skips schemas within additionalProperties, as kube-apiserver does. */
export function validateDefaults(
  schema: JSONSchemaProps | undefined,
  at: FieldPath,
  requiresPruned: boolean,
  rules: DefaultRules | undefined,
  isInMeta = false,
  isObject = true,
): FieldError[] {
  if (schema === undefined) return []
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const value = schema.default
  return [
    ...(value === undefined || value === null
      ? []
      : defaultProblems(
          isObject ? kept(schema, () => ({ ...schema, 'x-kubernetes-embedded-resource': true })) : schema,
          value,
          at.child('default'),
          requiresPruned && !(isInMeta && !isEmbedded),
          (json, here) => rules?.problems(json, isObject || isEmbedded, value, here) ?? [],
        )),
    ...validateDefaults(
      oneSchema(schema.items),
      at.child('items'),
      requiresPruned,
      rules,
      isInMeta && !isEmbedded,
      false,
    ),
    ...errorsByName(schema.properties ?? {}, (name) =>
      validateDefaults(
        ownValue(schema.properties!, name),
        at.child('properties').key(name),
        requiresPruned,
        rules,
        ((isObject || isEmbedded) && ['metadata', 'apiVersion', 'kind'].includes(name)) || (isInMeta && !isEmbedded),
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
): FieldError[] {
  // a schema is JSON, but its interface does not say so
  const json = schema as unknown as JsonObject
  const type = structuralOf(json)
  const errors: FieldError[] = []
  if (requiresPruned && !isPruned(schema, value)) errors.push(invalidValue(at, value, 'must not have unknown fields'))
  const embedded = validateEmbedded(type, value, at, false)
  if (embedded.length > 0) return [...errors, ...embedded]
  const values = validateValue(json, value, at)
  return [...errors, ...(values.length > 0 ? values : byRules(json, at))]
}

export function isPruned(schema: JSONSchemaProps, value: Json): boolean {
  const copy = structuredClone(value)
  pruneAny(structuralOf(schema as unknown as JsonObject), copy)
  return valuesEqual(copy, value)
}
