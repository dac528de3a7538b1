/**
 * Makes the OpenAPI schema of a type: definitions of v2, component schemas of v3. Keys are in kube-apiserver's order,
 * because it hashes the documents; properties are sorted by name. The caller passes the descriptions.
 */
import { append } from '../base/append.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { isBuiltInType, structuralOf } from './built-in.ts'
import type { Field, PatchStrategy, Scalar, SpecialName, Structural, StructType } from './structural.ts'

export type OpenApiVersion = 'v2' | 'v3'

export interface Describe {
  /** Descriptions by model name; `field` is '' for the type itself. */
  (model: string, field: string): string | undefined
  /** Schemas do not say which values a text may have. */
  readonly hidesEnums?: boolean
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const APIEXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1'

/** Types that OpenAPI publishes as models although their JSON is not an object. */
const specialModels: Readonly<Record<SpecialName, string>> = {
  time: `${META}.Time`,
  microTime: `${META}.MicroTime`,
  duration: `${META}.Duration`,
  fieldsV1: `${META}.FieldsV1`,
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  intOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  rawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  unknown: 'io.k8s.apimachinery.pkg.runtime.Unknown',
  json: `${APIEXTENSIONS}.JSON`,
  schemaOrArray: `${APIEXTENSIONS}.JSONSchemaPropsOrArray`,
  schemaOrBool: `${APIEXTENSIONS}.JSONSchemaPropsOrBool`,
  schemaOrStringArray: `${APIEXTENSIONS}.JSONSchemaPropsOrStringArray`,
}

const specialSchemas: Readonly<Record<OpenApiVersion, Readonly<Record<SpecialName, JsonObject>>>> = {
  v2: {
    time: { type: 'string', format: 'date-time' },
    microTime: { type: 'string', format: 'date-time' },
    duration: { type: 'string' },
    fieldsV1: { type: 'object' },
    quantity: { type: 'string' },
    intOrString: { type: 'string', format: 'int-or-string' },
    rawExtension: { type: 'object' },
    unknown: { type: 'object' },
    json: {},
    schemaOrArray: {},
    schemaOrBool: {},
    schemaOrStringArray: {},
  },
  v3: {
    time: { type: 'string', format: 'date-time' },
    microTime: { type: 'string', format: 'date-time' },
    duration: { type: 'string' },
    fieldsV1: { type: 'object' },
    quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
    intOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
    rawExtension: { type: 'object' },
    unknown: { type: 'object' },
    json: {},
    schemaOrArray: {},
    schemaOrBool: {},
    schemaOrStringArray: {},
  },
}

const scalarSchemas: Readonly<Record<Scalar, JsonObject>> = {
  string: { type: 'string' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  bool: { type: 'boolean' },
  bytes: { type: 'string', format: 'byte' },
  double: { type: 'number', format: 'double' },
  number: { type: 'number' },
  integer: { type: 'integer' },
}

const zeroes: Partial<Readonly<Record<Scalar, Json>>> = { string: '', int32: 0, int64: 0, bool: false, double: 0 }

const referencePrefix = { v2: '#/definitions/', v3: '#/components/schemas/' } as const

export const referenceTo = (model: string, version: OpenApiVersion): JsonObject => ({
  $ref: `${referencePrefix[version]}${model}`,
})

/** The name of the model that OpenAPI publishes for a type; undefined for an inline schema. */
export function modelOf(type: Structural): string | undefined {
  if (type.shape === 'special') return specialModels[type.special]
  return type.shape === 'struct' && type.name !== '' ? type.name : undefined
}

/** The models to which the schema of a model refers. */
export function referencedModels(model: string): string[] {
  const type = structuralOf(model)
  if (type.shape !== 'struct') return []
  return type.fields.flatMap((field) => modelOf(innermost(field.type)) ?? [])
}

function innermost(type: Structural): Structural {
  if (type.shape === 'list') return innermost(type.element)
  if (type.shape === 'map') return innermost(type.value)
  return type
}

/** The given models and all to which they refer, directly or not, sorted by name. */
export function closureOf(models: Iterable<string>): string[] {
  const seen = new Set<string>()
  const pending = [...models]
  for (let model = pending.pop(); model !== undefined; model = pending.pop()) {
    if (seen.has(model) || !isBuiltInType(model)) continue
    seen.add(model)
    append(pending, referencedModels(model))
  }
  return [...seen].sort()
}

/**
 * The schema of a model.
 * @param groupVersionKinds the registered kinds of the model; default: the kind of the type
 */
export function openApiModel(
  model: string,
  version: OpenApiVersion,
  describe: Describe,
  groupVersionKinds?: readonly JsonObject[],
): JsonObject {
  const type = structuralOf(model)
  if (type.shape === 'special') {
    return { ...described(describe(model, '')), ...specialSchemas[version][type.special] }
  }
  if (type.shape !== 'struct') throw new Error(`assertion failed: ${model} is published as a ${type.shape}`)
  const required = type.fields.filter((field) => field.required).map((field) => field.name)
  const properties = propertiesOf(type, version, describe)
  const kinds = groupVersionKinds ?? kindsOf(type)
  return {
    ...described(describe(model, '')),
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(kinds.length === 0 ? {} : { 'x-kubernetes-group-version-kind': [...kinds] }),
    ...(type.mapType === 'atomic' ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    ...(type.unions === undefined ? {} : { 'x-kubernetes-unions': type.unions }),
  }
}

/** The keys are in kube-apiserver's order. */
export const kindEntry = (group: string, version: string, kind: string): JsonObject => ({ group, kind, version })

const kindsOf = ({ gvk }: StructType): JsonObject[] =>
  gvk === undefined ? [] : [kindEntry(gvk.group, gvk.version, gvk.kind)]

const described = (description: string | undefined): JsonObject => (description === undefined ? {} : { description })

function propertiesOf(type: StructType, version: OpenApiVersion, describe: Describe): JsonObject {
  const schemas = new Map<string, JsonObject>()
  if (type.typeMeta)
    for (const name of ['apiVersion', 'kind'])
      schemas.set(name, { ...described(describe(type.name, name)), type: 'string' })
  const shown = describe.hidesEnums === true ? withoutEnums : (schema: JsonObject) => schema
  for (const field of type.fields)
    schemas.set(field.name, shown(fieldSchema(field, version, describe(type.name, field.name))))
  return Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
}

const withoutEnums = ({ enum: _values, items, additionalProperties, ...schema }: JsonObject): JsonObject => ({
  ...schema,
  // schemas of elements are objects
  ...(items === undefined ? {} : { items: withoutEnums(items as JsonObject) }),
  ...(additionalProperties === undefined
    ? {}
    : { additionalProperties: withoutEnums(additionalProperties as JsonObject) }),
})

function fieldSchema(field: Field, version: OpenApiVersion, description: string | undefined): JsonObject {
  const value = version === 'v2' ? undefined : (field.default ?? impliedDefault(field))
  return schemaOf(field.type, version, { ...described(description) }, value, extensionsOf(field))
}

/** The default that kube-apiserver publishes for a field without a declared one. */
function impliedDefault({ type, pointer, omit }: Field): Json | undefined {
  if (pointer) return undefined
  if (type.shape === 'struct') return {}
  return type.shape === 'leaf' && omit === 'never' ? zeroes[type.scalar] : undefined
}

/** The default that kube-apiserver publishes for an element of a list or map. */
function elementDefault(type: Structural): Json | undefined {
  if (type.shape === 'struct') return {}
  return type.shape === 'leaf' ? zeroes[type.scalar] : undefined
}

function extensionsOf(field: Field): JsonObject {
  const { type } = field
  const listType = type.shape === 'list' ? type.declaredListType : field.declaredListType
  const mapType = type.shape === 'map' ? type.declaredMapType : field.declaredMapType
  const strategy = strategyText(field.patchStrategy, type)
  const mergeKey = field.mergeKey ?? (type.shape === 'list' ? type.mergeKey : undefined)
  return {
    ...(listType === 'map' && type.shape === 'list' ? { 'x-kubernetes-list-map-keys': [...type.keys] } : {}),
    ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType }),
    ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
    ...(mergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': mergeKey }),
    ...(strategy === '' ? {} : { 'x-kubernetes-patch-strategy': strategy }),
  }
}

function strategyText(ofField: PatchStrategy, type: Structural): string {
  const ofList = type.shape === 'list' ? type.patchStrategy : ofField
  return (['merge', 'replace', 'retainKeys'] as const).filter((word) => ofField[word] || ofList[word]).join(',')
}

function schemaOf(
  type: Structural,
  version: OpenApiVersion,
  head: JsonObject,
  value: Json | undefined,
  extensions: JsonObject,
): JsonObject {
  const model = modelOf(type)
  const withDefault = value === undefined ? {} : { default: value }
  if (model !== undefined) {
    const reference = referenceTo(model, version)
    const siblings = { ...head, ...withDefault }
    if (version === 'v2') return { ...siblings, ...reference, ...extensions }
    if (Object.keys(siblings).length + Object.keys(extensions).length === 0) return reference
    return { ...siblings, allOf: [reference], ...extensions }
  }
  switch (type.shape) {
    case 'leaf':
      return {
        ...head,
        ...scalarSchemas[type.scalar],
        ...withDefault,
        ...(type.enum === undefined ? {} : { enum: [...type.enum].sort() }),
        ...extensions,
      }
    case 'list':
      return { ...head, type: 'array', ...withDefault, items: elementSchema(type.element, version), ...extensions }
    case 'map':
      return {
        ...head,
        type: 'object',
        ...withDefault,
        additionalProperties: elementSchema(type.value, version),
        ...extensions,
      }
    default:
      return { ...head, type: 'object', ...withDefault, ...extensions }
  }
}

const elementSchema = (type: Structural, version: OpenApiVersion): JsonObject =>
  schemaOf(type, version, {}, version === 'v2' ? undefined : elementDefault(type), {})
