/** `+`, binary `-` and unary `-` for values of all types. Arithmetic that only numbers have is in numbers.ts. */
import { concatenated } from './collections.ts'
import { checkedInt, checkedUint, isNumber, noSuchOverload } from './numbers.ts'
import { between, checkedDuration, shifted } from './times.ts'
import type { Value } from './value.ts'
import { CelError, Duration, ListValue, Timestamp, Uint } from './value.ts'

/**
 * The most elements of a concatenated list. The cost limit ends an evaluation before it can read that many, but
 * functions that read a whole list at once must end too.
 */
const MAX_LIST = 2_000_000

const concatenatedList = (a: ListValue, b: ListValue): Value =>
  a.size + b.size > MAX_LIST ? new CelError('list is too long') : concatenated(a, b)

export function add(a: Value, b: Value): Value {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? checkedInt(a + b) : noSuchOverload()
  if (typeof a === 'number') return typeof b === 'number' ? a + b : noSuchOverload()
  if (typeof a === 'string') return typeof b === 'string' ? a + b : noSuchOverload()
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value + b.value) : noSuchOverload()
  if (a instanceof ListValue) return b instanceof ListValue ? concatenatedList(a, b) : noSuchOverload()
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? joinedBytes(a, b) : noSuchOverload()
  if (a instanceof Timestamp) return b instanceof Duration ? shifted(a, b.nanos) : noSuchOverload()
  if (a instanceof Duration) {
    if (b instanceof Duration) return checkedDuration(a.nanos + b.nanos)
    return b instanceof Timestamp ? shifted(b, a.nanos) : noSuchOverload()
  }
  return noSuchOverload()
}

function joinedBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? checkedInt(a - b) : noSuchOverload()
  if (typeof a === 'number') return typeof b === 'number' ? a - b : noSuchOverload()
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value - b.value) : noSuchOverload()
  if (a instanceof Duration) return b instanceof Duration ? checkedDuration(a.nanos - b.nanos) : noSuchOverload()
  if (a instanceof Timestamp) {
    if (b instanceof Duration) return shifted(a, -b.nanos)
    return b instanceof Timestamp ? between(a, b) : noSuchOverload()
  }
  return noSuchOverload()
}

export function negate(value: Value): Value {
  if (typeof value === 'bigint') return checkedInt(-value)
  if (typeof value === 'number') return -value
  if (value instanceof Duration) return checkedDuration(-value.nanos)
  return noSuchOverload()
}

export const isAddable = (value: Value): boolean =>
  isNumber(value) ||
  typeof value === 'string' ||
  value instanceof ListValue ||
  value instanceof Uint8Array ||
  value instanceof Timestamp ||
  value instanceof Duration
export const isSubtractable = (value: Value): boolean =>
  isNumber(value) || value instanceof Timestamp || value instanceof Duration
export const isWhole = (value: Value): boolean => typeof value === 'bigint' || value instanceof Uint
