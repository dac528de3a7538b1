/**
 * The errors of a list's items, or of an object's members: computed in parts, and no more than an answer has room for.
 */
import { append } from '../api/append.ts'
import type { FieldError } from '../api/field.ts'
import { sortedKeys } from '../api/name-order.ts'
import type { Weight } from '../api/parts.ts'
import { eachName, eachPart, kept } from '../api/parts.ts'
import { MAX_PROBLEMS, MAX_REPORTED } from '../api/status.ts'

/** Of a part's items: the checks of one take microseconds. */
const WEIGHT = 4

/** Of an item with expressions: they are compiled, which takes a microsecond for each character, and some for each of them. */
export const weightOfExpressions = (...texts: readonly (string | undefined)[]): number =>
  texts.reduce((sum, text = '') => sum + 32 + text.length / 2, 0)

export function errorsOf<Item>(
  items: readonly Item[],
  check: (item: Item, index: number) => readonly FieldError[],
  weight: Weight<Item> = WEIGHT,
): FieldError[] {
  if (items.length === 0) return []
  const collected = kept(items, () => new Collected())
  eachPart(items, (item, index) => collected.add(check(item, index)), weight)
  return own(collected.errors)
}

/** In the order of the names. */
export function errorsByName(object: object, check: (name: string) => readonly FieldError[]): FieldError[] {
  const collected = kept(object, () => new Collected())
  eachName(object, sortedKeys, (name) => collected.add(check(name)), WEIGHT)
  return own(collected.errors)
}

/**
 * No more errors than an answer has room for, and no more text: some messages show the whole list for each of its
 * items.
 */
class Collected {
  readonly errors: FieldError[] = []
  private characters = 0

  /** @returns whether there is room for more */
  add(errors: readonly FieldError[]): boolean {
    append(this.errors, errors)
    for (const { field, message } of errors) this.characters += field.length + message.length
    return this.errors.length < MAX_PROBLEMS && this.characters <= MAX_REPORTED
  }
}

/** A walk that runs again finds the same errors again, so each caller gets a list of its own. */
const own = (errors: readonly FieldError[]): FieldError[] => (errors.length === 0 ? [] : [...errors])
