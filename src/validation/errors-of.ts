/**
 * Collects the errors of a list's items or an object's members. It checks them in parts (base/parts.ts), and stops when
 * a Status has no room for more errors.
 */
import { append } from '../base/append.ts'
import type { FieldError } from '../api/field.ts'
import { sortedKeys } from '../base/name-order.ts'
import type { Weight } from '../base/parts.ts'
import { eachName, eachPart, kept } from '../base/parts.ts'
import { MAX_PROBLEMS, MAX_REPORTED } from '../api/status.ts'

/** The weight of an item in units of `PART`. Its checks take microseconds. */
const WEIGHT = 4

/**
 * The weight of an item with CEL expressions. Compiling takes a microsecond for each character, and a few for each
 * expression.
 */
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

/** Checks the members in the order of their names. */
export function errorsByName(object: object, check: (name: string) => readonly FieldError[]): FieldError[] {
  const collected = kept(object, () => new Collected())
  eachName(object, sortedKeys, (name) => collected.add(check(name)), WEIGHT)
  return own(collected.errors)
}

/** Bounds the number of errors and the length of their texts: some messages contain the whole list for each item. */
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

/**
 * A copy for each caller: later runs of the walk return the same collected errors, and a caller may change its list.
 */
const own = (errors: readonly FieldError[]): FieldError[] => (errors.length === 0 ? [] : [...errors])
