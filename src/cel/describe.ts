/** Values as cel-go's messages show them. */
import { goFloatText } from './go-float.ts'
import { sizeOf } from './runtime-size.ts'
import { durationText, timestampText } from './times.ts'
import { runtimeTypeName } from './runtime-types.ts'
import type { Value } from './value.ts'
import { Duration, ListValue, MapValue, Timestamp, TypeValue, Uint } from './value.ts'

export function describe(value: Value): string {
  if (typeof value === 'number') return goFloatText(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Timestamp) return timestampText(value)
  if (value instanceof Duration) return durationText(value)
  if (value instanceof TypeValue) return runtimeTypeName(value.type)
  if (value instanceof ListValue || value instanceof MapValue) return `(${sizeOf(value)})`
  return String(value)
}
