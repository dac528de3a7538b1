/** JSON as values: numbers are ints where they are whole and marked so by a type, else doubles. Nothing is copied. */
import { ownValue } from '../api/own.ts'
import type { Value } from './value.ts'
import { ListValue, MapValue } from './value.ts'
import { work } from './work.ts'

export type JsonLike = null | boolean | number | bigint | string | readonly JsonLike[] | JsonObjectLike

interface JsonObjectLike {
  readonly [key: string]: JsonLike | undefined
}

/** How a number of JSON is taken where no type says more. */
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

/** Array.isArray does not narrow readonly arrays. */
const isArray = (json: readonly JsonLike[] | JsonObjectLike): json is readonly JsonLike[] => Array.isArray(json)

class JsonList extends ListValue {
  constructor(
    private readonly items: readonly JsonLike[],
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

/** Of a name that is listed: a wide object is a table of hashes. */
export const OF_NAME = 16

/** Names that are counted without taking note of it. */
export const FEW = 64

class JsonMap extends MapValue {
  constructor(
    private readonly object: JsonObjectLike,
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

  /** A member that is undefined is not there. */
  keys(): string[] {
    return Object.keys(this.object).filter((key) => this.object[key] !== undefined)
  }
}
