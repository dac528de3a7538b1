/** Lists and maps that expressions make. */
import { equalOthers } from './equality.ts'
import { compareNumbers, isNumber } from './numbers.ts'
import type { Value } from './value.ts'
import { ListValue, MapValue, Uint } from './value.ts'

/**
 * A list of values. Appending to the list that reaches the end of its storage shares the storage, so that a fold that
 * appends to its accumulator copies nothing.
 */
export class ValueList extends ListValue {
  static readonly empty = new ValueList([])

  constructor(
    private readonly values: Value[],
    readonly size: number = values.length,
  ) {
    super()
  }

  at(index: number): Value {
    return this.values[index]!
  }

  concat(other: ListValue): ListValue {
    if (other.size === 0) return this
    const values = this.size === this.values.length ? this.values : this.values.slice(0, this.size)
    for (let i = 0; i < other.size; i++) values.push(other.at(i))
    return new ValueList(values, this.size + other.size)
  }
}

export function concatenated(a: ListValue, b: ListValue): ListValue {
  if (a.size === 0) return b
  return (a instanceof ValueList && a !== ValueList.empty ? a : new ValueList(itemsOf(a))).concat(b)
}

export const itemsOf = (list: ListValue): Value[] => Array.from({ length: list.size }, (_, index) => list.at(index))

export const listFrom = (values: Value[]): ListValue => new ValueList(values)

/** Numbers that are equal are one key; text and booleans have keys of their own. */
export function mapKey(key: Value): string | number | bigint | boolean | undefined {
  switch (typeof key) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return key
    case 'number':
      return Number.isInteger(key) ? BigInt(key) : key
    default:
      return key instanceof Uint ? key.value : undefined
  }
}

export class ValueMap extends MapValue {
  private readonly entries = new Map<unknown, readonly [key: Value, value: Value]>()

  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    super()
    for (const [key, value] of entries) this.entries.set(mapKey(key), [key, value])
  }

  get size(): number {
    return this.entries.size
  }

  get(key: Value): Value | undefined {
    const known = mapKey(key)
    return known === undefined ? undefined : this.entries.get(known)?.[1]
  }

  *keys(): Iterable<Value> {
    for (const [key] of this.entries.values()) yield key
  }
}

/** Whether two values are equal: numbers by their value whatever their type, the rest only within a type. */
export function equal(a: Value, b: Value): boolean {
  if (a === b) return !(typeof a === 'number' && Number.isNaN(a))
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b) === 0
  return structurallyEqual(a, b)
}

function structurallyEqual(a: Value, b: Value): boolean {
  if (a instanceof ListValue && b instanceof ListValue) return equalLists(a, b)
  if (a instanceof MapValue && b instanceof MapValue) return equalMaps(a, b)
  return equalOthers(a, b)
}

function equalLists(a: ListValue, b: ListValue): boolean {
  if (a.size !== b.size) return false
  for (let i = 0; i < a.size; i++) if (!equal(a.at(i), b.at(i))) return false
  return true
}

function equalMaps(a: MapValue, b: MapValue): boolean {
  if (a.size !== b.size) return false
  for (const key of a.keys()) {
    const other = b.get(key)
    if (other === undefined || !equal(a.get(key)!, other)) return false
  }
  return true
}
