/**
 * Reads the schema of a CustomResourceDefinition (a structural OpenAPI v3 schema) into a type. The constraints on
 * values are checked against the schema itself (validation/value-validation.ts).
 */
import type { GroupVersionKind } from '../api/group-version.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { setOwn } from '../api/own.ts'
import { builtInType } from './built-in.ts'
import type { Field, ListType, PatchStrategy, Scalar, Structural, StructType, ValueValidation } from './structural.ts'

const NO_STRATEGY: PatchStrategy = { merge: false, replace: false, retainKeys: false }

/** Members that every object has. What a schema says about them does not count. */
const OBJECT_MEMBERS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/** @param name of the OpenAPI model. @param schema the version's openAPIV3Schema; absent: nothing is known */
export function customKindType(name: string, gvk: GroupVersionKind, schema: JsonObject | undefined): StructType {
  const metadata = fieldOf('metadata', builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'), {}, false)
  return {
    ...structOf(schema ?? { 'x-kubernetes-preserve-unknown-fields': true }, OBJECT_MEMBERS, [metadata]),
    name,
    gvk,
    typeMeta: true,
  }
}

/** A schema within another one. It refuses nothing: validation of the definition does. */
export function structuralOf(schema: JsonObject): Structural {
  const validation = validationOf(schema)
  if (schema['x-kubernetes-int-or-string'] === true) return { shape: 'special', special: 'intOrString', validation }
  const { additionalProperties, items, properties } = schema
  switch (schema['type']) {
    case 'array':
      return listOf(schema, isJsonObject(items) ? structuralOf(items) : { shape: 'untyped' }, validation)
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return { shape: 'leaf', scalar: scalars[schema['type']], validation }
    default:
      if (additionalProperties !== undefined && additionalProperties !== null)
        return {
          shape: 'map',
          // `true` declares nothing below; validation of the definition refuses `false`
          value: isJsonObject(additionalProperties) ? structuralOf(additionalProperties) : structOf({}),
          ...mapTypeOf(schema),
          validation,
        }
      if (schema['type'] === undefined && properties === undefined && !isEmbedded(schema) && preserves(schema))
        return { shape: 'untyped', validation }
      return structOf(schema)
  }
}

const scalars: Readonly<Record<'string' | 'integer' | 'number' | 'boolean', Scalar>> = {
  string: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'bool',
}

const preserves = (schema: JsonObject) => schema['x-kubernetes-preserve-unknown-fields'] === true
const isEmbedded = (schema: JsonObject) => schema['x-kubernetes-embedded-resource'] === true

function structOf(
  schema: JsonObject,
  without: ReadonlySet<string> = new Set(),
  before: readonly Field[] = [],
): StructType {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const required = new Set<unknown>(Array.isArray(schema['required']) ? schema['required'] : [])
  const declared = new Map<string, Field>(before.map((field) => [field.name, field]))
  for (const [name, property] of Object.entries(properties)) {
    if (without.has(name) || !isJsonObject(property)) continue
    declared.set(name, fieldOf(name, structuralOf(property), property, required.has(name)))
  }
  const fields = [...declared.values()]
  return {
    shape: 'struct',
    heldAs: 'unstructured',
    name: '',
    typeMeta: false,
    mapType: schema['x-kubernetes-map-type'] === 'atomic' ? 'atomic' : 'granular',
    fields,
    field: (name) => declared.get(name),
    ...(preserves(schema) ? { preserveUnknownFields: true } : {}),
    ...(isEmbedded(schema) ? { embeddedResource: true } : {}),
    validation: validationOf(schema),
  }
}

function fieldOf(name: string, type: Structural, schema: JsonObject, required: boolean): Field {
  return {
    name,
    type,
    omit: 'empty',
    pointer: true,
    required,
    ...(schema['nullable'] === true ? { nullable: true } : {}),
    ...(schema['default'] === undefined ? {} : { default: schema['default'] }),
    patchStrategy: NO_STRATEGY,
    number: 0,
    within: [],
    embeddedIn: [],
  }
}

function listOf(schema: JsonObject, element: Structural, validation: ValueValidation): ListType {
  const declared = schema['x-kubernetes-list-type']
  const known = declared === 'atomic' || declared === 'set' || declared === 'map' ? declared : undefined
  const keys = schema['x-kubernetes-list-map-keys']
  return {
    shape: 'list',
    element,
    listType: known ?? 'atomic',
    ...(known === undefined ? {} : { declaredListType: known }),
    keys: Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [],
    patchStrategy: NO_STRATEGY,
    validation,
  }
}

function mapTypeOf(schema: JsonObject) {
  const declared = schema['x-kubernetes-map-type']
  return declared === 'atomic' || declared === 'granular'
    ? ({ mapType: declared, declaredMapType: declared } as const)
    : ({ mapType: 'granular' } as const)
}

/** Keywords that are part of the structure, or say nothing about values. */
const NO_CONSTRAINTS: ReadonlySet<string> = new Set(['properties', 'items', 'additionalProperties', 'description'])

function validationOf(schema: JsonObject): ValueValidation {
  const kept: Record<string, Json | undefined> = {}
  for (const [keyword, value] of Object.entries(schema)) if (!NO_CONSTRAINTS.has(keyword)) setOwn(kept, keyword, value)
  return kept
}

/** `default` and `nullable` of a schema, which need not be the schema of a field. */
export const defaultOf = ({ validation }: { validation?: ValueValidation }): Json | undefined => validation?.['default']
export const isNullable = ({ validation }: { validation?: ValueValidation }): boolean =>
  validation?.['nullable'] === true
export const preservesUnknown = ({ validation }: { validation?: ValueValidation }): boolean =>
  validation?.['x-kubernetes-preserve-unknown-fields'] === true
