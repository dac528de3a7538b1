/** Defaults in a schema must be values of it, and nothing beyond (apiextensions' schema/defaulting ValidateDefaults). */
import type { JSONSchemaProps } from '../../api/apiextensions/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue } from '../../api/field.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import { ownValue } from '../../api/own.ts'
import { structuralOf } from '../../schema/from-openapi.ts'
import { pruneAny } from '../../schema/prune.ts'
import { valuesEqual } from '../../schema/value-order.ts'
import { validateEmbedded } from '../../validation/embedded-objects.ts'
import { validateValue } from '../../validation/value-validation.ts'
import { oneSchema } from './schema-validation.ts'

/** Defaults within additionalProperties are none. */
export function validateDefaults(
  schema: JSONSchemaProps | undefined,
  at: FieldPath,
  requiresPruned: boolean,
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
          isObject ? { ...schema, 'x-kubernetes-embedded-resource': true } : schema,
          value,
          at.child('default'),
          requiresPruned && !(isInMeta && !isEmbedded),
        )),
    ...validateDefaults(oneSchema(schema.items), at.child('items'), requiresPruned, isInMeta && !isEmbedded, false),
    ...Object.keys(schema.properties ?? {})
      .sort()
      .flatMap((name) =>
        validateDefaults(
          ownValue(schema.properties!, name),
          at.child('properties').key(name),
          requiresPruned,
          ((isObject || isEmbedded) && ['metadata', 'apiVersion', 'kind'].includes(name)) || (isInMeta && !isEmbedded),
          false,
        ),
      ),
  ]
}

function defaultProblems(schema: JSONSchemaProps, value: Json, at: FieldPath, requiresPruned: boolean): FieldError[] {
  // a schema is JSON whose interface does not say so
  const json = schema as unknown as JsonObject
  const type = structuralOf(json)
  const errors: FieldError[] = []
  if (requiresPruned && !isPruned(schema, value)) errors.push(invalidValue(at, value, 'must not have unknown fields'))
  const embedded = validateEmbedded(type, value, at, false)
  return [...errors, ...(embedded.length > 0 ? embedded : validateValue(json, value, at))]
}

export function isPruned(schema: JSONSchemaProps, value: Json): boolean {
  const copy = structuredClone(value)
  pruneAny(structuralOf(schema as unknown as JsonObject), copy)
  return valuesEqual(copy, value)
}
