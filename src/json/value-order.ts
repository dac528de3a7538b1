/** Equality and order of JSON values, as in structured-merge-diff's pkg/value. */
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { apart, goesInParts, kept } from '../base/parts.ts'

export function valuesEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return isNumber(a) && isNumber(b) && a == b
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let at = 0; at < a.length; at++) if (!valuesEqual(a[at], b[at])) return false
    return true
  }
  return !Array.isArray(b) && mapsEqual(a as JsonObject, b as JsonObject)
}

/** Values with fewer lists, maps and scalars than this are compared without a part of their own. */
const FEW = 1024

/**
 * Like valuesEqual, for a walk in parts (parts.ts). A large value is compared in a part of its own.
 * @param a the same value in each run
 */
export function valuesEqualApart(a: Json | undefined, b: Json | undefined): boolean {
  if (!goesInParts() || typeof a !== 'object' || a === null || typeof b !== 'object') return valuesEqual(a, b)
  // kept, because V8 lists all names of a large map even for a loop that stops at the first one
  const few = kept(a, () => isFew(a, { left: FEW }))
  return few ? valuesEqual(a, b) : apart(a, () => valuesEqual(a, b))
}

function isFew(value: Json | undefined, seen: { left: number }): boolean {
  if (--seen.left < 0) return false
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.length <= seen.left && value.every((one) => isFew(one, seen))
  for (const name in value) if (!isFew(value[name], seen)) return false // own key: no object inherits enumerable names
  return true
}

/** Whether two maps are equal. A member that is undefined counts as absent. */
function mapsEqual(a: JsonObject, b: JsonObject): boolean {
  let count = 0
  for (const name in a) {
    if (a[name] === undefined) continue
    const theirs = ownValue(b, name)
    if (theirs === undefined || !valuesEqual(a[name], theirs)) return false
    count++
  }
  for (const name in b) if (b[name] !== undefined) count--
  return count === 0
}

const isNumber = (value: Json | undefined): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint'

/** Compares values: numbers before strings before booleans before lists before maps before null. */
export function compareValues(a: Json, b: Json): number {
  const order = rank(a) - rank(b)
  if (order !== 0) return order
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b)
  if (isJsonObject(a) && isJsonObject(b)) return compareLists(sortedEntries(a), sortedEntries(b))
  return 0
}

function compareLists(a: readonly Json[], b: readonly Json[]): number {
  for (const [at, item] of a.entries()) {
    const other = b[at]
    if (other === undefined) return 1
    const order = compareValues(item, other)
    if (order !== 0) return order
  }
  return a.length - b.length
}

const sortedEntries = (map: { [key: string]: Json | undefined }): Json[] =>
  Object.keys(map)
    .sort(compareText)
    .flatMap((name) => [name, map[name] ?? null])

function rank(value: Json): number {
  if (isNumber(value)) return 0
  if (typeof value === 'string') return 1
  if (typeof value === 'boolean') return 2
  if (Array.isArray(value)) return 3
  return value === null ? 5 : 4
}

/** Compares by Unicode code points, which is the order of the bytes in UTF-8. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === length) return a.length - b.length
  const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)]
  // surrogates stand for code points beyond U+FFFF
  const isSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdfff
  if (isSurrogate(x) !== isSurrogate(y)) return isSurrogate(x) ? 1 : -1
  return x - y
}
