/**
 * CEL values of JSON that has no schema. A `NumberAs` decides whether a number is an int or a double. Nothing is
 * copied.
 */
import { ownValue } from '../../base/own.ts'
import type { Value } from './value.ts'
import { ListValue, MapValue } from './value.ts'
import { work } from '../evaluation/work.ts'

export type JsonLike = null | boolean | number | bigint | string | readonly JsonLike[] | JsonObjectLike

interface JsonObjectLike {
  readonly [key: string]: JsonLike | undefined
}

/** Converts a JSON number to an int or a double. */
export type NumberAs = (value: number | bigint) => Value

export const asDouble: NumberAs = (value) => Number(value)
export const asIntWhereWhole: NumberAs = (value) =>
  typeof value === 'bigint' || !Number.isSafeInteger(value)
    ? typeof value === 'bigint'
      ? value
      : value
    : BigInt(value)

export function valueOfJson(json: JsonLike, number: NumberAs = asIntWhereWhole): Value {
  if (json === null || typeof json === 'boolean' || typeof json === 'string') return json
  if (typeof json === 'number' || typeof json === 'bigint') return number(json)
  return isArray(json) ? new JsonList(json, number) : new JsonMap(json, number)
}

/** Array.isArray does not narrow the type of readonly arrays. */
const isArray = (json: readonly JsonLike[] | JsonObjectLike): json is readonly JsonLike[] => Array.isArray(json)

/** The JSON of a value that `valueOfJson` made of it. */
export function jsonOf(value: Value): JsonLike | undefined {
  if (value === null || typeof value !== 'object') return value
  if (value instanceof JsonList) return value.items
  return value instanceof JsonMap ? value.object : undefined
}

class JsonList extends ListValue {
  constructor(
    readonly items: readonly JsonLike[],
    private readonly number: NumberAs,
  ) {
    super()
  }

  get size(): number {
    return this.items.length
  }

  at(index: number): Value {
    return valueOfJson(this.items[index]!, this.number)
  }
}

/**
 * Units of work for each name that is listed. V8 keeps an object with many names as a hash table, which is slow to
 * list.
 */
export const OF_NAME = 16

/** Up to this many names, listing them counts no work. */
export const FEW = 64

class JsonMap extends MapValue {
  private names: string[] | undefined

  constructor(
    readonly object: JsonObjectLike,
    private readonly number: NumberAs,
  ) {
    super()
  }

  get size(): number {
    const { length } = this.keys()
    if (length > FEW) work(length * OF_NAME)
    return length
  }

  get(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const value = ownValue(this.object, key)
    return value === undefined ? undefined : valueOfJson(value, this.number)
  }

  /** A member that is undefined counts as absent. */
  keys(): readonly string[] {
    return (this.names ??= Object.keys(this.object).filter((key) => this.object[key] !== undefined))
  }
}
