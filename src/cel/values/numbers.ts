/** Arithmetic with overflow errors, and comparisons between number types, as in cel-go. */
import type { Value } from './value.ts'
import { CelError, Uint } from './value.ts'

export const MIN_INT = -(2n ** 63n)
export const MAX_INT = 2n ** 63n - 1n
export const MAX_UINT = 2n ** 64n - 1n

export type NumberValue = bigint | Uint | number

export const isNumber = (value: Value): value is NumberValue =>
  typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint

export const noSuchOverload = (): CelError => new CelError('no such overload')

export const checkedInt = (value: bigint): Value =>
  value >= MIN_INT && value <= MAX_INT ? value : new CelError('integer overflow')

export const checkedUint = (value: bigint): Value =>
  value >= 0n && value <= MAX_UINT ? new Uint(value) : new CelError('unsigned integer overflow')

/** @returns a negative number, zero or a positive number; undefined if one of them is NaN */
export function compareNumbers(a: NumberValue, b: NumberValue): number | undefined {
  if (typeof a === 'number' ? Number.isNaN(a) : typeof b === 'number' && Number.isNaN(b)) return undefined
  if (typeof a === 'number' && typeof b === 'number') {
    if (Number.isNaN(b)) return undefined
    return a < b ? -1 : a > b ? 1 : 0
  }
  if (typeof a === 'number') return -compareToDouble(b as bigint | Uint, a) // b is no double here
  if (typeof b === 'number') return compareToDouble(a, b)
  const left = typeof a === 'bigint' ? a : a.value
  const right = typeof b === 'bigint' ? b : b.value
  return left < right ? -1 : left > right ? 1 : 0
}

/**
 * Converts the int or uint to a double, as Go does. A double outside of the range of the type is smaller or larger than
 * every value of it.
 */
function compareToDouble(whole: bigint | Uint, double: number): number {
  const isInt = typeof whole === 'bigint'
  if (double < (isInt ? -(2 ** 63) : 0)) return 1
  if (double > (isInt ? 2 ** 63 : 2 ** 64)) return -1
  const asDouble = Number(isInt ? whole : whole.value)
  return asDouble < double ? -1 : asDouble > double ? 1 : 0
}

export function divide(a: Value, b: Value): Value {
  if (typeof a === 'number') return typeof b === 'number' ? a / b : noSuchOverload()
  if (typeof a === 'bigint' && typeof b === 'bigint')
    return b === 0n ? new CelError('division by zero') : checkedInt(a / b)
  if (a instanceof Uint && b instanceof Uint)
    return b.value === 0n ? new CelError('division by zero') : new Uint(a.value / b.value)
  return noSuchOverload()
}

export function modulo(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (b === 0n) return new CelError('modulus by zero')
    return a === MIN_INT && b === -1n ? new CelError('integer overflow') : a % b
  }
  if (a instanceof Uint && b instanceof Uint)
    return b.value === 0n ? new CelError('modulus by zero') : new Uint(a.value % b.value)
  return noSuchOverload()
}

export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'number') return typeof b === 'number' ? a * b : noSuchOverload()
  if (typeof a === 'bigint' && typeof b === 'bigint') return checkedInt(a * b)
  if (a instanceof Uint && b instanceof Uint) return checkedUint(a.value * b.value)
  return noSuchOverload()
}
