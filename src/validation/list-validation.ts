/** Validates that lists of type set and map have no duplicates (apiextensions' schema/listtype). */
import type { FieldError, FieldPath } from '../api/field.ts'
import { duplicate, invalidValue } from '../api/field.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { sortNames } from '../base/name-order.ts'
import { stringifySorted } from '../json/write-json.ts'
import { flatMapParts, kept, mapParts } from '../base/parts.ts'
import { isAnywhereIn } from '../schema/anywhere.ts'
import { errorsByName, errorsOf } from './errors-of.ts'
import type { ListType, Structural } from '../schema/structural.ts'

/** Most types have no such list inside, and validation skips their values. */
const holdsKeyedLists = isAnywhereIn((type) => type.shape === 'list' && type.declaredListType !== undefined)

export function validateLists(type: Structural, value: Json | undefined, at: FieldPath): FieldError[] {
  if (!holdsKeyedLists(type)) return []
  if (Array.isArray(value)) {
    if (type.shape !== 'list') return []
    const element = type.element
    return [
      ...ownProblems(type, value, at),
      ...errorsOf(value, (item, index) => validateLists(element, item, at.index(index))),
    ]
  }
  if (!isJsonObject(value)) return []
  if (type.shape === 'map')
    return errorsByName(value, (name) => validateLists(type.value, ownValue(value, name), at.key(name)))
  if (type.shape !== 'struct') return []
  return errorsByName(value, (name) => {
    const field = type.field(name)
    return field === undefined ? [] : validateLists(field.type, ownValue(value, name), at.child(name))
  })
}

function ownProblems(type: ListType, items: readonly Json[], at: FieldPath): FieldError[] {
  if (type.declaredListType === 'set') return duplicates(items, at)
  return type.declaredListType === 'map' ? mapProblems(type, items, at) : []
}

function mapProblems({ keys }: ListType, items: readonly Json[], at: FieldPath): FieldError[] {
  const wrong = items.findIndex((item) => item !== null && !isJsonObject(item))
  if (wrong >= 0)
    return [invalidValue(at.index(wrong), items[wrong], 'must be an object for an array of list-type map')]
  const keysOf = mapParts(items, (item): JsonObject => {
    // few: the keys that a schema declares for a list
    const found = keys.filter((key) => isJsonObject(item) && ownValue(item, key) !== undefined)
    return Object.fromEntries(found.map((key) => [key, ownValue(item as JsonObject, key)]))
  })
  return duplicates(keysOf, at)
}

const duplicates = (values: readonly Json[], at: FieldPath): FieldError[] =>
  repeated(values).map((index) => duplicate(at.index(index), inOrder(values[index]!)))

/** Sorts the members of objects by name, like Go's encoder. */
function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isJsonObject(value)) return value
  const names = sortNames(Object.keys(value))
  return Object.fromEntries(names.map((name) => [name, inOrder(ownValue(value, name) ?? null)]))
}

/** The index of the second occurrence of each repeated value. */
function repeated(values: readonly Json[]): number[] {
  const texts = mapParts(values, stringifySorted)
  const times = kept(texts, () => new Map<string, number>())
  return flatMapParts(texts, (text, index) => {
    const before = times.get(text) ?? 0
    times.set(text, before + 1)
    return before === 1 ? [index] : []
  })
}
