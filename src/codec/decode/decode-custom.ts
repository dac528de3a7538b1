/**
 * Decodes parsed JSON into a custom resource and removes fields that its schema does not declare. Like apiextensions'
 * schemaCoercingDecoder, it decodes the metadata of the object and of embedded objects as Go's ObjectMeta, and writes
 * it back.
 */
import { append } from '../../base/append.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { setOwn } from '../../base/own.ts'
import { goType, goValue } from '../../go/value.ts'
import { builtInType } from '../../schema/built-in.ts'
import { elementType, isWholeObject, memberType, prune, pruneNulls } from '../../schema/prune.ts'
import type { Structural, StructType } from '../../schema/structural.ts'
import { canonical } from '../encode/encode.ts'
import { eachName, eachPart, kept } from '../../base/parts.ts'
import type { Decoded } from './decoded.ts'
import { decodeTyped } from './decode-typed.ts'
import { decodeUnstructured } from './decode-untyped.ts'
import { DecodeError } from './decode-problems.ts'
import type { JsonTree } from '../../json/json.ts'
import { sortedKeys, sortNames } from '../../base/name-order.ts'
import { stringifySorted } from '../../json/write-json.ts'

const objectMeta = (): StructType => builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')

/** @throws {DecodeError} */
export function decodeCustomObject(type: StructType, tree: JsonTree): Decoded {
  const { object, strict } = decodeUnstructured(tree)
  for (const name of ['kind', 'apiVersion'] as const) {
    const value = object[name]
    if (value !== undefined && typeof value !== 'string')
      throw new DecodeError(
        `.${name} accessor error: ${goValue(value)} is of the type ${goType(value)}, expected string`,
      )
  }
  const ofMetadata = kept(object, () => decodeMetadata(object, 'metadata'))
  object['metadata'] ??= {}
  const pruned = prune(type, object)
  pruneNulls(type, object)
  const embedded = kept(object, () => [] as string[])
  coerceBelow(type, object, '', embedded)
  return {
    object,
    // kept, because each run of a walk begins anew and comes here again
    strict: kept(object, () => {
      const unknown = [...ofMetadata, ...pruned, ...sortNames(embedded)]
      return [...strict, ...unknown.map((path) => `unknown field "${path}"`)]
    }),
  }
}

/** An embedded object has another value than its metadata, apiVersion or kind can be. */
export class CoercionError extends DecodeError {
  constructor(
    readonly path: string,
    readonly value: Json | undefined,
    readonly why: string,
  ) {
    super(`${path}: Invalid value: ${stringifySorted(value ?? null)}: ${why}`)
  }
}

/**
 * Gives the embedded objects in a value normal metadata, in place.
 * @throws {CoercionError}
 */
export const coerceEmbedded = (type: Structural | undefined, value: Json): void => coerce(type, value, '', [])

/**
 * Fits a stored object to its schema, which may have changed since the last write, in place. It does the same as
 * decoding, but without errors.
 */
export function reshapeStored(type: StructType, object: JsonObject): void {
  prune(type, object)
  pruneNulls(type, object)
}

/**
 * Gives the embedded objects in a merged object normal metadata, in place. Validation refuses an embedded object whose
 * metadata has none.
 */
export function coerceMerged(type: StructType, object: JsonObject): void {
  try {
    coerceBelow(type, object, '', [])
  } catch (error) {
    if (!(error instanceof CoercionError)) throw error
  }
}

/** Replaces the metadata of an object by its normal form. @returns paths of the unknown fields in it */
function decodeMetadata(object: JsonObject, path: string): string[] {
  const metadata = object['metadata']
  if (metadata === undefined) return []
  const decoded = decodeTyped(objectMeta(), metadata as JsonTree)
  object['metadata'] = canonical(objectMeta(), decoded.object)
  const unknown = decoded.strict.flatMap((text) => {
    const field = /^unknown field "(.*)"$/.exec(text)?.[1]
    return field === undefined ? [] : [`${path}.${field}`]
  })
  return sortNames(unknown)
}

/**
 * Metadata without the members that Go's ObjectMeta does not have or cannot hold, for an object that policies and
 * webhooks have made. kube-apiserver leaves them out when it reads the stored object.
 */
export function readableMetadata(metadata: JsonObject): JsonObject {
  const readable: JsonObject = {}
  for (const [name, value] of Object.entries(metadata))
    try {
      // the value is JSON, and so a tree
      const { object } = decodeTyped(objectMeta(), { [name]: value } as JsonTree)
      for (const [member, normal] of Object.entries(canonical(objectMeta(), object))) setOwn(readable, member, normal)
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
    }
  return readable
}

function coerceBelow(type: Structural | undefined, value: Json | undefined, path: string, unknown: string[]): void {
  if (type === undefined) return
  if (Array.isArray(value))
    eachPart(value, (item, index) => coerce(elementType(type), item, `${path}[${index}]`, unknown))
  else if (isJsonObject(value))
    eachName(value, sortedKeys, (name) => {
      // the object's own metadata is decoded already
      if (path === '' && name === 'metadata') return
      const below = type.shape === 'map' ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
      coerce(memberType(type, name), value[name], below, unknown)
    })
}

function coerce(type: Structural | undefined, value: Json | undefined, path: string, unknown: string[]): void {
  if (isWholeObject(type) && isJsonObject(value)) coerceObject(value, path, unknown)
  coerceBelow(type, value, path, unknown)
}

function coerceObject(object: JsonObject, path: string, unknown: string[]): void {
  for (const name of ['apiVersion', 'kind'] as const) {
    const value = object[name]
    if (value !== undefined && typeof value !== 'string')
      throw new CoercionError(`${path}.${name}`, value, 'must be a string')
  }
  const before = object['metadata']
  try {
    append(unknown, decodeMetadata(object, `${path}.metadata`))
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new CoercionError(`${path}.metadata`, before, error.message)
  }
}
