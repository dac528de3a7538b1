/** Applies the defaults of a custom resource's schema (apiextensions' schema/defaulting) to an object in place. */
import { cloneInParts } from '../json/clone-json.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue, setOwn } from '../base/own.ts'
import { eachName, eachPart, kept } from '../base/parts.ts'
import { requestEntityTooLarge } from '../api/status.ts'
import { defaultOf, isNullable } from './from-openapi.ts'
import { elementType, memberType } from './prune.ts'
import type { Field, Structural, StructType } from './structural.ts'

/**
 * Characters that defaults may add to an object: twice the size limit of storage. Without this bound, defaults for a
 * few bytes of empty items could take gigabytes.
 */
export const MAX_ADDED = 3 * 1024 * 1024

/** For an object that a client sent. @throws StatusError 413 where its defaults are longer than MAX_ADDED */
export function applyStructuralDefaults(type: StructType, object: JsonObject): void {
  fill(
    type,
    object,
    kept(object, () => ({ left: MAX_ADDED, refuses: true })),
  )
}

/**
 * For an object of storage, whose schema may have new defaults since the last write. Defaults that exceed MAX_ADDED are
 * left out, so that clients can still read and delete the object.
 */
export function applyDefaultsToStored(type: StructType, object: JsonObject): void {
  fill(
    type,
    object,
    kept(object, () => ({ left: MAX_ADDED, refuses: false })),
  )
}

/**
 * `left` is the number of characters that defaults may still add. `refuses`: an excess is an error, else it is left
 * out.
 */
interface Room {
  left: number
  readonly refuses: boolean
}

function fill(type: Structural | undefined, value: Json | undefined, room: Room): void {
  if (type === undefined || !mayFill(type)) return
  if (Array.isArray(value)) {
    const element = elementType(type)
    if (element === undefined) return
    eachPart(value, (item, index) => {
      if (item === null && !isNullable(element)) value[index] = copyOf(defaultOf(element) ?? null, room) ?? null
      fill(element, value[index], room)
    })
  } else if (isJsonObject(value)) {
    if (type.shape === 'struct') {
      fillMembers(type.defaulted ?? NONE, value, room)
      if (!mayFillBelow(type)) return
    }
    eachName(value, Object.keys, (name) => {
      const below = memberType(type, name)
      if (below === undefined) return
      if (type.shape === 'map' && value[name] === null && !isNullable(below))
        setOwn(value, name, copyOf(defaultOf(below) ?? null, room) ?? null)
      fill(below, value[name], room)
    })
  }
}

const NONE: readonly Field[] = []

/** Up to this many scalars are filled in at once, more of them in parts (base/parts.ts). */
const FEW = 32

function fillMembers(fields: readonly Field[], value: JsonObject, room: Room): void {
  const fillOne = ({ name, default: declared, nullable }: Field): void => {
    if (declared === undefined || declared === null) return
    const before = ownValue(value, name)
    if (before !== undefined && (before !== null || nullable === true)) return
    const copy = copyOf(declared, room, name.length + 4)
    if (copy !== undefined) setOwn(value, name, copy)
  }
  if (fields.length <= FEW && fields.every((field) => typeof field.default !== 'object')) fields.forEach(fillOne)
  else eachPart(fields, fillOne)
}

const filledBelow = new WeakMap<StructType, boolean>()

/**
 * Whether defaults may apply inside of the type's members. A wide type is not searched, because that would parse all of
 * its properties.
 */
function mayFillBelow(type: StructType): boolean {
  let known = filledBelow.get(type)
  if (known === undefined) {
    known = (type.width ?? Infinity) > FEW || type.fields.some((field) => mayFill(field.type))
    filledBelow.set(type, known)
  }
  return known
}

/** Whether a type has a default anywhere inside. Most have none, and defaulting skips their values. */
function mayFill(type: Structural): boolean {
  switch (type.shape) {
    case 'struct':
      return type.hasDefaultsBelow === true
    case 'map':
      return defaultOf(type.value) !== undefined || mayFill(type.value)
    case 'list':
      return defaultOf(type.element) !== undefined || mayFill(type.element)
    default:
      return false
  }
}

/**
 * @param beside characters of the member's name and punctuation
 * @returns undefined where the default is left out
 * @throws StatusError 413
 */
function copyOf(value: Json, room: Room, beside = 0): Json | undefined {
  // counts once, also where the copy is made in parts
  kept(value, () => void (room.left -= beside + lengthOf(value)))
  if (room.left >= 0) return cloneInParts(value)
  if (room.refuses) throw requestEntityTooLarge(`defaults may add ${MAX_ADDED} characters`)
  return undefined
}

/** Lengths of defaults that are lists or objects. */
const lengths = new WeakMap<object, number>()

function lengthOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? value.length + 2 : 4
  let length = lengths.get(value)
  if (length === undefined) lengths.set(value, (length = JSON.stringify(value).length))
  return length
}
