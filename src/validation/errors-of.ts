/** What is wrong with the items of a list, or with the members of an object: in parts, and no more than is told. */
import { append } from '../api/append.ts'
import type { FieldError } from '../api/field.ts'
import { sortedKeys } from '../api/json.ts'
import type { JsonObject } from '../api/object.ts'
import { eachName, eachPart, kept } from '../api/parts.ts'
import { MAX_PROBLEMS } from '../api/status.ts'

/** Of a part's items: the checks of one take microseconds. */
const WEIGHT = 4

export function errorsOf<Item>(
  items: readonly Item[],
  check: (item: Item, index: number) => readonly FieldError[],
): FieldError[] {
  if (items.length === 0) return []
  const errors = kept(items, (): FieldError[] => [])
  const look = (item: Item, index: number): boolean => {
    append(errors, check(item, index))
    return errors.length < MAX_PROBLEMS
  }
  eachPart(items, look, WEIGHT)
  return errors
}

/** In the order of the names. */
export function errorsByName(object: JsonObject, check: (name: string) => readonly FieldError[]): FieldError[] {
  const errors = kept(object, (): FieldError[] => [])
  const look = (name: string): boolean => {
    append(errors, check(name))
    return errors.length < MAX_PROBLEMS
  }
  eachName(object, sortedKeys, look, WEIGHT)
  return errors
}
