/** A value as text that tells it from all others: types, order of lists, entries of maps in any order. */
import { durationText, timestampText } from '../../../src/cel/values/times.ts'
import { runtimeTypeName } from '../../../src/cel/values/runtime-types.ts'
import type { Value } from '../../../src/cel/values/value.ts'
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  ObjectValue,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
} from '../../../src/cel/values/value.ts'

export function valueText(value: Value): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return `double ${Object.is(value, -0) ? '-0' : value}`
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`
  if (value instanceof Timestamp) return `time ${timestampText(new Timestamp(value.seconds, value.nanos))}`
  if (value instanceof Duration) return `duration ${durationText(value)}`
  if (value instanceof ListValue)
    return `[${Array.from({ length: value.size }, (_, at) => valueText(value.at(at))).join(', ')}]`
  if (value instanceof MapValue)
    return `{${[...value.keys()]
      .map((key) => `${valueText(key)}: ${valueText(value.get(key)!)}`)
      .sort()
      .join(', ')}}`
  if (value instanceof Optional) return value.value === undefined ? 'none' : `optional(${valueText(value.value)})`
  if (value instanceof TypeValue) return `type ${runtimeTypeName(value.type)}`
  if (value instanceof CelError) return `error: ${value.message}`
  if (value instanceof ObjectValue || value instanceof OpaqueValue) return `a ${runtimeTypeName(value.type)}`
  return String(value satisfies never)
}
