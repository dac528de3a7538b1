/**
 * Embedded objects get from their defaults only what metadata can have (apiextensions' PruneDefaults). Validation
 * accepts defaults with other members of metadata, which no request may bring into an object.
 */
import type { Json, JsonObject } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { ownValue, setOwn } from '../../base/own.ts'
import { CoercionError, coerceEmbedded } from '../../codec/decode/decode-custom.ts'
import { cloneJson } from '../../json/clone-json.ts'
import { structuralOf } from '../../schema/from-openapi.ts'
import { pruneAny } from '../../schema/prune.ts'
import type { Structural } from '../../schema/structural.ts'

/** Where a schema describes a part of an embedded object's metadata, apiVersion or kind. */
interface InMeta {
  readonly object: Structural
  /** The object whose only such part is this value. */
  around(part: Json): Json
  partOf(object: Json | undefined): Json | undefined
}

const META: ReadonlySet<string> = new Set(['metadata', 'apiVersion', 'kind'])

/** @returns a copy of the schema whose defaults have nothing that decoding an object would take away */
export function withPrunedDefaults(schema: JsonObject, inMeta?: InMeta): JsonObject {
  const { default: value, ...pruned } = schema
  const { properties, items, additionalProperties } = schema
  const kept = isGiven(value) ? prunedDefault(schema, value, inMeta) : value
  if (kept !== undefined) pruned['default'] = kept
  if (isJsonObject(items)) pruned['items'] = withPrunedDefaults(items, inMeta && inList(inMeta))
  if (isJsonObject(additionalProperties))
    pruned['additionalProperties'] = withPrunedDefaults(additionalProperties, inMeta && inMember(inMeta, '*'))
  if (isJsonObject(properties)) {
    const members: JsonObject = {}
    for (const [name, property] of Object.entries(properties))
      setOwn(
        members,
        name,
        isJsonObject(property) ? withPrunedDefaults(property, below(schema, name, inMeta)) : property,
      )
    pruned['properties'] = members
  }
  return pruned
}

const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null

function prunedDefault(schema: JsonObject, value: Json, inMeta: InMeta | undefined): Json | undefined {
  if (inMeta === undefined) return reshaped(structuralOf(schema), value)
  return inMeta.partOf(reshaped(inMeta.object, inMeta.around(value)))
}

function below(schema: JsonObject, name: string, inMeta: InMeta | undefined): InMeta | undefined {
  if (inMeta !== undefined) return inMember(inMeta, name)
  if (schema['x-kubernetes-embedded-resource'] !== true || !META.has(name)) return undefined
  return inMember({ object: structuralOf(schema), around: (part) => part, partOf: (object) => object }, name)
}

const inMember = (outer: InMeta, name: string): InMeta => ({
  object: outer.object,
  around: (part) => outer.around({ [name]: part }),
  partOf(object) {
    const member = outer.partOf(object)
    return isJsonObject(member) ? ownValue(member, name) : undefined
  },
})

const inList = (outer: InMeta): InMeta => ({
  object: outer.object,
  around: (part) => outer.around([part]),
  partOf(object) {
    const list = outer.partOf(object)
    return Array.isArray(list) ? list[0] : undefined
  },
})

/** Validation refuses a default whose metadata cannot be read, so such a one is as old as the server's leniency. */
function reshaped(type: Structural, value: Json): Json {
  const copy = cloneJson(value)
  pruneAny(type, copy)
  try {
    coerceEmbedded(type, copy)
  } catch (error) {
    if (!(error instanceof CoercionError)) throw error
  }
  return copy
}
