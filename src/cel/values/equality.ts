/**
 * Equality of bytes, timestamps, durations, types, opaque values and objects. collections.ts compares the other values.
 */
import { sameBytes } from '../../base/bytes.ts'
import { work } from '../evaluation/work.ts'
import { sameType } from '../checker/type-relations.ts'
import type { Value } from './value.ts'
import { Duration, ObjectValue, OpaqueValue, Timestamp, TypeValue } from './value.ts'

export function equalOthers(a: Value, b: Value): boolean {
  if (a instanceof Uint8Array) return b instanceof Uint8Array && sameBytes(a, b)
  if (a instanceof Timestamp) return b instanceof Timestamp && a.seconds === b.seconds && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && sameRuntimeType(a, b)
  if (a instanceof OpaqueValue) {
    work(a.length)
    return b instanceof OpaqueValue ? a.equals(b) : a.equalsPlain?.(b) === true
  }
  if (a instanceof ObjectValue) return b instanceof ObjectValue && a.equals(b)
  return false
}

/** At run time all lists have the same type, and so have all maps. */
function sameRuntimeType({ type: a }: TypeValue, { type: b }: TypeValue): boolean {
  if (a.kind === 'list' || a.kind === 'map' || a.kind === 'type') return a.kind === b.kind
  if (a.kind === 'opaque') return b.kind === 'opaque' && a.name === b.name
  return sameType(a, b)
}
