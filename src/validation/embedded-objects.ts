/**
 * Validates embedded objects in custom resources (x-kubernetes-embedded-resource; apiextensions' schema/objectmeta).
 */
import { append } from '../base/append.ts'
import type { FieldError, FieldPath } from '../api/field.ts'
import { invalidValue, required } from '../api/field.ts'
import { parseApiVersion } from '../api/group-version.ts'
import type { Json, JsonObject, ObjectMeta } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { elementType, memberType } from '../schema/prune.ts'
import type { Structural } from '../schema/structural.ts'
import { isAnywhereIn } from '../schema/anywhere.ts'
import { errorsByName, errorsOf } from './errors-of.ts'
import { dns1035Label, pathSegmentName } from './names.ts'
import { validateAnyMeta } from './object-meta.ts'

/** Most types have no embedded object inside, and validation skips their values. */
const holdsObjects = isAnywhereIn((type) => type.shape === 'struct' && type.embeddedResource === true)

/** @param isRoot the value is the custom resource itself, whose metadata other code validates */
export function validateEmbedded(
  type: Structural | undefined,
  value: Json | undefined,
  at: FieldPath,
  isRoot = true,
): FieldError[] {
  if (type === undefined || !holdsObjects(type)) return []
  if (Array.isArray(value))
    return errorsOf(value, (item, index) => validateEmbedded(elementType(type), item, at.index(index), false))
  if (!isJsonObject(value)) return []
  const isEmbedded = !isRoot && type.shape === 'struct' && type.embeddedResource === true
  return [
    ...(isEmbedded ? objectProblems(value, at) : []),
    ...errorsByName(value, (name) =>
      isRoot && name === 'metadata'
        ? []
        : validateEmbedded(
            memberType(type, name),
            ownValue(value, name),
            type.shape === 'map' ? at.key(name) : at.child(name),
            false,
          ),
    ),
  ]
}

function objectProblems(object: JsonObject, at: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const { apiVersion, kind, metadata } = object
  if (apiVersion === undefined) errors.push(required(at.child('apiVersion')))
  if (kind === undefined) errors.push(required(at.child('kind')))
  if (apiVersion !== undefined) append(errors, apiVersionProblems(apiVersion, at.child('apiVersion')))
  if (kind !== undefined) append(errors, kindProblems(kind, at.child('kind')))
  if (isJsonObject(metadata)) {
    // decoding has made it an ObjectMeta
    const meta = metadata as ObjectMeta
    const named = meta.name ? meta : { ...meta, name: 'fakename' }
    append(errors, validateAnyMeta(named, !!meta.namespace, pathSegmentName, at.child('metadata')))
  }
  return errors
}

function apiVersionProblems(value: Json, at: FieldPath): FieldError[] {
  if (typeof value !== 'string') return [invalidValue(at, value, 'must be a string')]
  if (value === '') return [invalidValue(at, value, 'must not be empty')]
  return parseApiVersion(value) === undefined
    ? [invalidValue(at, value, `unexpected GroupVersion string: ${value}`)]
    : []
}

function kindProblems(value: Json, at: FieldPath): FieldError[] {
  if (typeof value !== 'string') return [invalidValue(at, value, 'must be a string')]
  if (value === '') return [invalidValue(at, value, 'must not be empty')]
  const problems = dns1035Label(value.toLowerCase())
  return problems.length === 0
    ? []
    : [invalidValue(at, value, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
}
