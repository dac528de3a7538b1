/** The sizes of values from which runtime costs are computed. */
import type { Value } from './value.ts'
import { ListValue, MapValue, OpaqueValue, Optional } from './value.ts'

/** The number of code points, bytes, elements or entries. 1 for a value that has no size. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return codePoints(value)
  if (value instanceof Uint8Array) return value.length
  if (value instanceof ListValue || value instanceof MapValue) return value.size
  if (value instanceof OpaqueValue) return value.size
  if (value instanceof Optional && value.value !== undefined) return sizeOf(value.value)
  return 1
}

function codePoints(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit < 0xdc00 && i + 1 < text.length) {
      count--
      i++
    }
  }
  return count
}

/** The cost of one traversal of a string of this size. */
export const traversal = (size: number): number => Math.ceil(size * 0.1)
