/** Formats values as in cel-go's messages. */
import { goFloat } from '../../go/float.ts'
import { sizeOf } from './runtime-size.ts'
import { durationText, timestampText } from './times.ts'
import { runtimeType, runtimeTypeName } from './runtime-types.ts'
import type { Value } from './value.ts'
import { Duration, ListValue, MapValue, Optional, Timestamp, TypeValue, Uint } from './value.ts'

/** The Go type that represents the value in cel-go. */
export function goTypeName(value: Value): string {
  if (value instanceof TypeValue) return '*types.Type'
  if (value instanceof Optional) return '*types.Optional'
  const name = runtimeTypeName(runtimeType(value)).replace(/^.*\./, '').replace('null_type', 'null')
  return `types.${name.charAt(0).toUpperCase()}${name.slice(1)}`
}

export function describe(value: Value): string {
  if (typeof value === 'number') return goFloat(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Timestamp) return timestampText(value)
  if (value instanceof Duration) return durationText(value)
  if (value instanceof TypeValue) return runtimeTypeName(value.type)
  if (value instanceof ListValue || value instanceof MapValue) return `(${sizeOf(value)})`
  return String(value)
}
