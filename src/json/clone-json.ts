import { setOwn } from '../base/own.ts'
import { eachName, goesInParts, kept, mapParts } from '../base/parts.ts'

/** A deep copy of JSON. structuredClone can copy other values, too, but takes several times as long. */
export function cloneJson<Value>(value: Value): Value {
  // each part of the copy has the type of its original
  return clone(value) as Value
}

function clone(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(clone)
  const copy = {}
  // own keys: Object.keys names no others
  for (const name of Object.keys(value)) setOwn(copy, name, clone(value[name as keyof typeof value]))
  return copy
}

/** Like cloneJson, in parts for a large value (parts.ts). The walk that calls it must not change the copy. */
export const cloneInParts = <Value>(value: Value): Value => (goesInParts() ? partsOf : clone)(value) as Value // as above

function partsOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return mapParts(value, partsOf)
  const copy = kept(value, () => ({}))
  // own keys: as above
  eachName(value, Object.keys, (name) => setOwn(copy, name, partsOf(value[name as keyof typeof value])))
  return copy
}
