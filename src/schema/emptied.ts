/**
 * Lists and maps that were sent empty. They are left out of objects, as they are of what is stored; but until then Go
 * tells an empty one from none, and so do some rules and error texts. Read from storage, nothing is known of them.
 */
import type { Json, JsonObject } from '../api/object.ts'
import { setOwn } from '../api/own.ts'

/** A member that no walk over names sees, and that copies by spreading or structuredClone leave behind. */
const EMPTIED = Symbol('emptied')

const emptiedOf = (object: object): JsonObject | undefined => (object as { [EMPTIED]?: JsonObject })[EMPTIED]

const setEmptied = (object: object, fields: JsonObject): void =>
  void Object.defineProperty(object, EMPTIED, { value: fields })

/** @param value `[]` or `{}`, which was left out of the object */
export function noteEmptied(object: object, field: string, value: Json): void {
  const fields = emptiedOf(object)
  if (fields === undefined) setEmptied(object, { [field]: value })
  else fields[field] = value // own key: a field of a built-in type
}

/** The field, or the empty list or map that was sent for it. */
export const sentField = <O extends object, F extends keyof O & string>(object: O, field: F): O[F] | undefined =>
  // what was noted is the empty value of the field's type
  // own key: a field of a built-in type
  object[field] ?? (emptiedOf(object)?.[field] as O[F] | undefined)

/** A copy of JSON that keeps what is known of it. */
export function copyWithEmptied<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  // the copy has the shape of what it copies
  if (Array.isArray(value)) return value.map(copyWithEmptied) as T
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) setOwn(copy as JsonObject, name, copyWithEmptied(member))
  const fields = emptiedOf(value)
  if (fields !== undefined) setEmptied(copy, { ...fields })
  return copy as T
}

const NONE: ReadonlySet<string> = new Set()

/** Whether there is one anywhere inside, and still nothing in its place. @param ignored fields of the value itself */
export function hasEmptied(value: unknown, ignored: ReadonlySet<string> = NONE): boolean {
  if (typeof value !== 'object' || value === null) return false
  const left = Object.keys(emptiedOf(value) ?? {})
  return (
    // own key: a field of a built-in type
    left.some((field) => !ignored.has(field) && (value as JsonObject)[field] === undefined) ||
    Object.entries(value).some(([field, member]) => !ignored.has(field) && hasEmptied(member))
  )
}
