/**
 * Properties of a schema that expressions need. The schema is that of a built-in type or of a CustomResourceDefinition.
 */
import type { Json } from '../api/object.ts'
import type { Field, ListType, MapType, Structural, StructType } from '../schema/structural.ts'

/** Whether the schema has a type. Expressions cannot see values without a type. */
export const isTyped = (schema: Structural): boolean =>
  schema.shape !== 'untyped' && (schema.validation === undefined || schema.validation['type'] !== undefined)

/** The format of a string. It determines the CEL type of the value. */
export type TextFormat = 'duration' | 'date' | 'date-time' | 'byte' | undefined

const formats: ReadonlySet<unknown> = new Set(['duration', 'date', 'date-time', 'byte'])

/** The form in which expressions see the values of a schema. */
export type Shape =
  | { readonly is: 'hidden' }
  | { readonly is: 'int-or-string' }
  | { readonly is: 'quantity' }
  | { readonly is: 'bool' | 'int' | 'double' }
  | { readonly is: 'string'; readonly format: TextFormat }
  | { readonly is: 'list'; readonly schema: ListType }
  | { readonly is: 'map'; readonly schema: MapType }
  | { readonly is: 'object'; readonly schema: StructType | undefined }

export function shapeOf(schema: Structural): Shape {
  switch (schema.shape) {
    case 'untyped':
      return { is: 'hidden' }
    case 'special':
      return specialShape(schema.special)
    case 'leaf':
      return leafShape(schema)
    case 'list':
      return { is: 'list', schema }
    case 'map':
      // with `additionalProperties: true` the members of the object have no known type
      return isOpen(schema) ? { is: 'object', schema: undefined } : { is: 'map', schema }
    case 'struct':
      return isTyped(schema) ? { is: 'object', schema } : { is: 'hidden' }
  }
}

const isOpen = ({ value }: MapType): boolean => value.shape === 'untyped' && value.undeclared !== undefined

function specialShape(special: Extract<Structural, { shape: 'special' }>['special']): Shape {
  switch (special) {
    case 'intOrString':
      return { is: 'int-or-string' }
    case 'time':
    case 'microTime':
      return { is: 'string', format: 'date-time' }
    case 'duration':
      return { is: 'string', format: undefined }
    case 'rawExtension':
    case 'fieldsV1':
      return { is: 'object', schema: undefined }
    // kube-apiserver hides values of several types, or of any type, from expressions
    case 'quantity':
    case 'json':
    case 'schemaOrArray':
    case 'schemaOrBool':
    case 'schemaOrStringArray':
    case 'unknown':
      return { is: 'hidden' }
  }
}

function leafShape({ scalar, validation }: Extract<Structural, { shape: 'leaf' }>): Shape {
  switch (scalar) {
    case 'bool':
      return { is: 'bool' }
    case 'int32':
    case 'int64':
    case 'integer':
      return { is: 'int' }
    case 'double':
    case 'number':
      return { is: 'double' }
    case 'bytes':
      return { is: 'string', format: 'byte' }
    case 'string': {
      const format = validation?.['format']
      // the set contains only members of the type
      return { is: 'string', format: formats.has(format) ? (format as TextFormat) : undefined }
    }
  }
}

/** The value of a size keyword. A negative value becomes 0. */
export function sizeKeyword(
  { validation }: Structural,
  keyword: 'maxLength' | 'maxItems' | 'maxProperties',
): number | undefined {
  const value = validation?.[keyword]
  return typeof value === 'number' ? Math.max(0, value) : undefined
}

export function enumOf(schema: Structural): readonly (Json | undefined)[] {
  if (schema.shape === 'leaf' && schema.enum !== undefined) return schema.enum
  const declared = schema.validation?.['enum']
  return Array.isArray(declared) ? declared : []
}

export const isEmbedded = (schema: Structural): boolean => schema.shape === 'struct' && schema.embeddedResource === true

const TEXT: Structural = { shape: 'leaf', scalar: 'string' }

const member = (name: string, type: Structural): Field => ({
  name,
  type,
  omit: 'empty',
  pointer: false,
  required: false,
  patchStrategy: { merge: false, replace: false, retainKeys: false },
  number: 0,
  within: [],
  embeddedIn: [],
})

const isText = (schema: StructType | undefined, name: string): boolean => {
  const type = schema?.field(name)?.type
  return type?.shape === 'leaf' && type.scalar === 'string'
}

/** The fields of an object's root. It always has kind, apiVersion, and the names in metadata. */
export function rootFields(schema: StructType): readonly Field[] {
  const { fields } = schema
  const metadata = schema.field('metadata')?.type
  if (schema.typeMeta) return [member('kind', TEXT), member('apiVersion', TEXT), ...fields]
  const declared =
    isText(schema, 'kind') &&
    isText(schema, 'apiVersion') &&
    metadata?.shape === 'struct' &&
    isText(metadata, 'name') &&
    isText(metadata, 'generateName')
  if (declared) return fields
  return [
    ...fields.filter(({ name }) => name !== 'kind' && name !== 'apiVersion' && name !== 'metadata'),
    member('kind', TEXT),
    member('apiVersion', TEXT),
    member('metadata', NAMES),
  ]
}

const nameFields: readonly Field[] = [member('name', TEXT), member('generateName', TEXT)]
const NAMES: StructType = {
  shape: 'struct',
  heldAs: 'unstructured',
  name: '',
  typeMeta: false,
  mapType: 'granular',
  fields: nameFields,
  field: (name) => nameFields.find((field) => field.name === name),
}
