/**
 * Removes fields that a custom resource's schema does not declare (apiextensions' schema/pruning), and nulls that it
 * does not allow (apiextensions' schema/defaulting). Both change the object in place.
 */
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { sortNames } from '../base/name-order.ts'
import { eachName, eachPart, kept } from '../base/parts.ts'
import { defaultOf, isNullable, preservesUnknown } from './from-openapi.ts'
import type { Structural, StructType } from './structural.ts'

const OBJECT_MEMBERS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/** @returns the paths of the removed fields, sorted: `spec.a[0].b` */
export function prune(type: StructType, object: JsonObject): string[] {
  const unknown = kept(object, () => [] as string[])
  pruneValue(object, type, '', unknown)
  return kept(object, () => sortNames(unknown))
}

/** Like `prune`, for a value of any type, without the paths. */
export const pruneAny = (type: Structural, value: Json): void => pruneValue(value, type, '', [])

/** The type of a member, where the schema declares one. */
export function memberType(type: Structural | undefined, name: string): Structural | undefined {
  if (type?.shape === 'struct') return type.field(name)?.type ?? type.others
  return type?.shape === 'map' ? type.value : undefined
}

export const elementType = (type: Structural | undefined): Structural | undefined =>
  type?.shape === 'list' ? type.element : undefined

export const isWholeObject = (type: Structural | undefined): boolean =>
  type?.shape === 'struct' && (type.typeMeta || type.embeddedResource === true)

const isAnything = (type: Structural): boolean => type.shape === 'untyped' && type.undeclared === undefined

/** @param type undefined: the schema declares neither the value nor anything inside of it */
function pruneValue(value: Json | undefined, type: Structural | undefined, path: string, unknown: string[]): void {
  if (type !== undefined && (isAnything(type) || preservesUnknown(type)))
    return pruneDeclared(value, type, path, unknown)
  if (Array.isArray(value)) {
    eachPart(value, (item, index) => pruneValue(item, elementType(type), `${path}[${index}]`, unknown))
  } else if (isJsonObject(value)) {
    eachName(value, Object.keys, (name) => {
      if (isWholeObject(type) && OBJECT_MEMBERS.has(name)) return
      const below = memberType(type, name)
      if (below !== undefined) pruneValue(value[name], below, pathTo(path, name), unknown)
      else {
        unknown.push(pathTo(path, name))
        delete value[name]
      }
    })
  }
}

/** Prunes inside of x-kubernetes-preserve-unknown-fields: visits declared fields and keeps the others. */
function pruneDeclared(value: Json | undefined, type: Structural | undefined, path: string, unknown: string[]): void {
  if (type === undefined) return
  if (Array.isArray(value)) {
    eachPart(value, (item, index) => pruneDeclared(item, elementType(type), `${path}[${index}]`, unknown))
  } else if (isJsonObject(value)) {
    eachName(value, Object.keys, (name) => {
      if (isWholeObject(type) && OBJECT_MEMBERS.has(name)) return
      const below = memberType(type, name)
      if (below !== undefined) pruneValue(value[name], below, pathTo(path, name), unknown)
    })
  }
}

const pathTo = (path: string, name: string) => (path === '' ? name : `${path}.${name}`)

/** Removes nulls where the schema is not nullable and declares no default. */
export function pruneNulls(type: Structural | undefined, value: Json | undefined): void {
  if (Array.isArray(value)) eachPart(value, (item) => pruneNulls(elementType(type), item))
  else if (isJsonObject(value)) {
    eachName(value, Object.keys, (name) => {
      const below = memberType(type, name)
      const goes = value[name] === null && below !== undefined && !isNullable(below) && !hasDefault(below)
      if (goes) delete value[name]
      else pruneNulls(below, value[name])
    })
  }
}

const hasDefault = (type: Structural): boolean => {
  const value = defaultOf(type)
  return value !== undefined && value !== null
}
