/**
 * Remembers the lists and maps that a client sent empty. Objects in memory leave them out, as stored objects do. Until
 * kube-apiserver stores an object, it distinguishes empty from absent lists, and so do some of its validation rules and
 * error texts. An object that was read from storage has no empty ones.
 */
import type { Json, JsonObject } from '../api/object.ts'
import { setOwn } from '../base/own.ts'
import { eachName, eachPart, kept, mapParts } from '../base/parts.ts'

/** The key of a hidden member: Object.keys does not list it, and spreading and structuredClone do not copy it. */
const EMPTIED = Symbol('emptied')

const emptiedOf = (object: object): JsonObject | undefined => (object as { [EMPTIED]?: JsonObject })[EMPTIED]

const setEmptied = (object: object, fields: JsonObject): void =>
  void Object.defineProperty(object, EMPTIED, { value: fields })

/** @param value the `[]` or `{}` that decoding leaves out of the object */
export function noteEmptied(object: object, field: string, value: Json): void {
  const fields = emptiedOf(object)
  if (fields === undefined) setEmptied(object, { [field]: value })
  else fields[field] = value // own key: a field of a built-in type
}

/** The field, or the empty list or map that the client sent for it. */
export const sentField = <O extends object, F extends keyof O & string>(object: O, field: F): O[F] | undefined =>
  // noteEmptied got an empty value of the field's type
  // own key: a field of a built-in type
  object[field] ?? (emptiedOf(object)?.[field] as O[F] | undefined)

/** Takes the field away, and that the client sent it empty. */
export function dropField(object: JsonObject, field: string): void {
  delete object[field] // own key: a field of a built-in type
  const fields = emptiedOf(object)
  if (fields !== undefined) delete fields[field]
}

/** A copy of an object with other values of some fields, and with the note of its empty ones. */
export function withFields<O extends object>(object: O, changed: { readonly [F in keyof O]?: O[F] | undefined }): O {
  const copy = { ...object, ...changed }
  const fields = emptiedOf(object)
  if (fields !== undefined) setEmptied(copy, { ...fields })
  return copy
}

/** Copies JSON together with the note of its empty fields. Runs as a walk (base/parts.ts). */
export function copyWithEmptied<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  // the copy has the same type as the value
  if (Array.isArray(value)) return mapParts(value, copyWithEmptied) as T
  const copy = kept(value, (): JsonObject => ({}))
  eachName(value, Object.keys, (name) => setOwn(copy, name, copyWithEmptied((value as JsonObject)[name]!))) // own key: one of its own
  const fields = emptiedOf(value)
  if (fields !== undefined) setEmptied(copy, { ...fields })
  return copy as T
}

/** The key of a hidden member of encoded values, like EMPTIED. */
const TOLD = Symbol('told')

/** Marks an encoded value that leaves out what the client sent empty, in itself or in one inside of it. */
export const tellEmptied = (encoded: object): void => void Object.defineProperty(encoded, TOLD, { value: true })

export const tellsEmptied = (encoded: Json | undefined): boolean =>
  typeof encoded === 'object' && encoded !== null && (encoded as { [TOLD]?: boolean })[TOLD] === true

/** Whether the client sent a field of the object itself empty, and the field is still absent. */
export function isEmptiedItself(object: JsonObject): boolean {
  const fields = emptiedOf(object)
  // own key: a field of a built-in type
  return fields !== undefined && Object.keys(fields).some((field) => object[field] === undefined)
}

const NONE: ReadonlySet<string> = new Set()

/**
 * Whether the client sent a field of the value, or of one inside of it, empty, and the field is still absent. Runs as a
 * walk (base/parts.ts).
 * @param ignored fields of the value itself
 */
export function hasEmptied(value: unknown, ignored: ReadonlySet<string> = NONE): boolean {
  if (typeof value !== 'object' || value === null) return false
  const left = Object.keys(emptiedOf(value) ?? {})
  // own key: a field of a built-in type
  if (left.some((field) => !ignored.has(field) && (value as JsonObject)[field] === undefined)) return true
  const found = kept(value, () => ({ any: false }))
  const look = (member: unknown): boolean => !(found.any ||= hasEmptied(member))
  if (Array.isArray(value)) eachPart(value, look)
  else eachName(value, Object.keys, (field) => ignored.has(field) || look((value as JsonObject)[field])) // own key: one of its own
  return found.any
}
