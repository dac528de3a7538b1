/** The order of two values of the same type, and of numbers. */
import { compareNumbers, isNumber, noSuchOverload } from './numbers.ts'
import type { Value } from './value.ts'
import { CelError, Duration, Timestamp } from './value.ts'

export const isComparable = (value: Value): boolean =>
  isNumber(value) ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  value instanceof Uint8Array ||
  value instanceof Timestamp ||
  value instanceof Duration

/** @returns a negative number, zero or a positive number */
export function compare(a: Value, b: Value): number | CelError {
  if (isNumber(a)) {
    if (!isNumber(b)) return noSuchOverload()
    return compareNumbers(a, b) ?? new CelError('NaN values cannot be ordered')
  }
  if (typeof a === 'string') return typeof b === 'string' ? compareTexts(a, b) : noSuchOverload()
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : noSuchOverload()
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : noSuchOverload()
  if (a instanceof Duration) return b instanceof Duration ? compareWhole(a.nanos, b.nanos) : noSuchOverload()
  if (a instanceof Timestamp)
    return b instanceof Timestamp ? compareWhole(a.seconds, b.seconds) || a.nanos - b.nanos : noSuchOverload()
  return noSuchOverload()
}

const compareWhole = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/** Compares by code points, which is the order of UTF-8 bytes. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left !== right) {
      const surrogates = (left >= 0xd800 && left <= 0xdfff ? 1 : 0) - (right >= 0xd800 && right <= 0xdfff ? 1 : 0)
      return surrogates !== 0 ? surrogates : left - right
    }
  }
  return a.length - b.length
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}
