/**
 * Whether encode.ts writes the same JSON for two values of a built-in type, in which empty members may equal absent
 * ones. Only quantities are compared by their amounts, as kube-apiserver does (apimachinery's equality.Semantic): `1`
 * equals `+1`. It compares without encoding and ends at the first difference. It may run in a walk (base/parts.ts), whose runs
 * need the same lists and maps in `a`.
 */
import type { Json, JsonObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { everyPart, kept } from '../../base/parts.ts'
import { Quantity } from '../../schema/quantity.ts'
import type { Field, MapType, Structural, StructType } from '../../schema/structural.ts'
import { written } from './encode.ts'

export function sameWritten(type: StructType, a: JsonObject, b: JsonObject): boolean {
  if (a === b) return true
  if (type.typeMeta && !(sameText(a.kind, b.kind) && sameText(a.apiVersion, b.apiVersion))) return false
  for (const name in a) {
    // own key: inherited names are no fields of a built-in type
    const theirs = b[name]
    if (a[name] !== theirs && !sameField(type.field(name), a[name], theirs)) return false
  }
  for (const name in b) {
    const isSeen = a[name] !== undefined // own key: as above
    if (!isSeen && b[name] !== undefined && !sameField(type.field(name), undefined, b[name])) return false
  }
  return true
}

const sameText = (a: Json | undefined, b: Json | undefined): boolean => (a || '') === (b || '')

function sameField(field: Field | undefined, a: Json | undefined, b: Json | undefined): boolean {
  if (field === undefined) return true
  const [ours, theirs] = [written(field, a, false), written(field, b, false)]
  if (ours === undefined || theirs === undefined) return ours === theirs
  return sameOf(field.type, ours, theirs)
}

function sameOf(type: Structural, a: Json, b: Json): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return sameScalar(a, b) || (type.shape === 'special' && type.special === 'quantity' && sameAmount(a, b))
  switch (type.shape) {
    case 'struct':
      return sameWritten(type, a as JsonObject, b as JsonObject)
    case 'list':
      return sameLists(type.element, a as Json[], b as Json[])
    case 'map':
      return sameMaps(type, a as JsonObject, b as JsonObject)
    default:
      return sameSpecial(type, a, b)
  }
}

/** Compares texts, because numbers and bigints (integers beyond 2^53) may be equal. */
const sameScalar = (a: Json, b: Json): boolean =>
  typeof a !== 'object' && typeof b !== 'object' && typeof a !== 'string' && typeof b !== 'string' && `${a}` === `${b}`

function sameAmount(a: Json, b: Json): boolean {
  const [ours, theirs] = [Quantity.tryParse(`${a}`), Quantity.tryParse(`${b}`)]
  return ours !== undefined && theirs !== undefined && ours.equals(theirs)
}

/** A walk compares lists and maps with at least this many items in parts (base/parts.ts). */
const MANY = 64

function sameLists(element: Structural, a: readonly Json[], b: readonly Json[]): boolean {
  if (a.length !== b.length) return false
  const isSame = (item: Json, at: number): boolean => sameOf(element, item, b[at]!)
  return a.length < MANY ? a.every(isSame) : everyPart(a, isSame)
}

function sameMaps({ value }: MapType, a: JsonObject, b: JsonObject): boolean {
  const names = kept(a, () => Object.keys(a))
  if (!kept(a, () => names.length === Object.keys(b).length)) return false
  const isSame = (name: string): boolean => {
    const theirs = ownValue(b, name)
    // the encoder writes null and undefined members of maps, too
    return (theirs !== undefined || Object.hasOwn(b, name)) && sameOf(value, ownValue(a, name) ?? null, theirs ?? null)
  }
  return names.length < MANY ? names.every(isSame) : everyPart(names, isSame)
}

/** Compares a JSONSchemaProps, a list of them, or untyped JSON, in which the order of members counts. */
function sameSpecial(type: Structural, a: Json, b: Json): boolean {
  const of = type.shape === 'special' ? type.of : undefined
  if (of === undefined) return JSON.stringify(a) === JSON.stringify(b)
  if (Array.isArray(a) !== Array.isArray(b)) return false
  if (!Array.isArray(a)) return sameWritten(of(), a as JsonObject, b as JsonObject)
  return sameLists(type, a, b as Json[])
}
