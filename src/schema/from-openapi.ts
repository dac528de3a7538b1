/**
 * Makes a type from the schema of a CustomResourceDefinition (a structural OpenAPI v3 schema).
 * validation/value-validation.ts reads the constraints on values from the schema itself.
 */
import type { GroupVersionKind } from '../api/group-version.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { lazy } from '../base/lazy.ts'
import { isEmpty, ownValue, setOwn } from '../base/own.ts'
import { builtInType } from './built-in.ts'
import type { Field, ListType, PatchStrategy, Scalar, Structural, StructType, ValueValidation } from './structural.ts'

const NO_STRATEGY: PatchStrategy = { merge: false, replace: false, retainKeys: false }

/** Members that every object has. Schemas of these members have no effect. */
const OBJECT_MEMBERS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/**
 * @param name of the OpenAPI model
 * @param schema the version's openAPIV3Schema; without one, the type preserves unknown fields
 * @param hasDefaults false: the caller knows that the schema has no defaults, and saves the search for them
 */
export function customKindType(
  name: string,
  gvk: GroupVersionKind,
  schema: JsonObject | undefined,
  hasDefaults = true,
): StructType {
  const metadata = fieldOf('metadata', builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'))
  const known = schema ?? { 'x-kubernetes-preserve-unknown-fields': true }
  return new SchemaStruct(known, { name, gvk, members: OBJECT_MEMBERS, own: [metadata], hasDefaults })
}

/** The type of a schema within another one. Validation of the definition has refused invalid schemas. */
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
      if (isGiven(additionalProperties) && !hasProperties(schema))
        return { shape: 'map', value: othersOf(additionalProperties), ...mapTypeOf(schema), validation }
      if (schema['type'] === undefined && properties === undefined && !isEmbedded(schema) && preserves(schema))
        return { shape: 'untyped', validation }
      return new SchemaStruct(schema)
  }
}

const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null
const hasProperties = ({ properties }: JsonObject): boolean => isJsonObject(properties) && !isEmpty(properties)

/** The type of the members that `additionalProperties` keeps. Only a schema declares what is inside of them. */
const othersOf = (additionalProperties: Json): Structural =>
  isJsonObject(additionalProperties)
    ? structuralOf(additionalProperties)
    : undeclared[additionalProperties === false ? 'forbidden' : 'allowed']

// no null is removed where no schema declares the value
const undeclared = {
  allowed: { shape: 'untyped', undeclared: 'allowed', validation: { nullable: true } },
  forbidden: { shape: 'untyped', undeclared: 'forbidden', validation: { nullable: true } },
} satisfies Record<string, Structural>

const scalars: Readonly<Record<'string' | 'integer' | 'number' | 'boolean', Scalar>> = {
  string: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'bool',
}

const preserves = (schema: JsonObject) => schema['x-kubernetes-preserve-unknown-fields'] === true
const isEmbedded = (schema: JsonObject) => schema['x-kubernetes-embedded-resource'] === true

/** The facts about a root type that are not in its schema. */
interface Root {
  readonly name: string
  readonly gvk: GroupVersionKind
  /** Members whose type does not come from the schema. `own` has those of them that have a type. */
  readonly members: ReadonlySet<string>
  readonly own: readonly Field[]
  readonly hasDefaults: boolean
}

/**
 * The type of a schema with properties. First use parses a property: a definition has up to sixty thousand, and an
 * object uses few of them.
 */
class SchemaStruct implements StructType {
  readonly shape = 'struct'
  readonly heldAs = 'unstructured'
  readonly name: string
  readonly gvk?: GroupVersionKind
  readonly typeMeta: boolean
  readonly mapType: 'granular' | 'atomic'
  readonly preserveUnknownFields?: boolean
  readonly embeddedResource?: boolean
  readonly others?: Structural
  private readonly properties: JsonObject
  private readonly required: () => ReadonlySet<unknown>
  private readonly schema: JsonObject
  private readonly root: Root | undefined
  private readonly known: Map<string, Field>
  private all: readonly Field[] | undefined
  private count: number | undefined
  private withDefaults: readonly Field[] | undefined
  private constraints: ValueValidation | undefined

  constructor(schema: JsonObject, root?: Root) {
    this.schema = schema
    this.root = root
    this.name = root?.name ?? ''
    if (root !== undefined) this.gvk = root.gvk
    this.typeMeta = root !== undefined
    this.mapType = schema['x-kubernetes-map-type'] === 'atomic' ? 'atomic' : 'granular'
    if (preserves(schema)) this.preserveUnknownFields = true
    if (isEmbedded(schema)) this.embeddedResource = true
    // the root has none, nor has an object without properties, which is a map
    if (root === undefined && hasProperties(schema) && isGiven(schema['additionalProperties']))
      this.others = othersOf(schema['additionalProperties'])
    this.properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
    this.required = lazy(() => new Set<unknown>(Array.isArray(schema['required']) ? schema['required'] : []))
    this.known = new Map(root?.own.map((field) => [field.name, field]))
  }

  get validation(): ValueValidation {
    return (this.constraints ??= validationOf(this.schema))
  }

  get width(): number {
    return (this.count ??= Object.keys(this.properties).length + (this.root?.own.length ?? 0))
  }

  get defaulted(): readonly Field[] {
    return (this.withDefaults ??= Object.entries(this.properties).flatMap(([name, schema]) =>
      hasOwnDefault(schema) ? (this.declared(name) ?? []) : [],
    ))
  }

  get hasDefaultsBelow(): boolean {
    return this.root?.hasDefaults !== false && declaresDefaults(this.schema)
  }

  get fields(): readonly Field[] {
    return (this.all ??= [
      ...(this.root?.own ?? []),
      ...Object.keys(this.properties).flatMap((name) => this.declared(name) ?? []),
    ])
  }

  field(name: string): Field | undefined {
    return this.known.get(name) ?? this.declared(name)
  }

  private declared(name: string): Field | undefined {
    if (this.root?.members.has(name)) return undefined
    const known = this.known.get(name)
    if (known !== undefined) return known
    const schema = ownValue(this.properties, name)
    if (!isJsonObject(schema)) return undefined
    const field = new SchemaField(name, schema, this.required().has(name))
    this.known.set(name, field)
    return field
  }
}

/** A property. First use parses its type. */
class SchemaField implements Field {
  readonly omit = 'empty'
  readonly pointer = true
  readonly nullable?: boolean
  readonly default?: Json
  readonly patchStrategy = NO_STRATEGY
  readonly number = 0
  readonly within: readonly number[] = NOWHERE
  readonly embeddedIn: readonly string[] = NOWHERE
  private own: Structural | undefined

  constructor(
    readonly name: string,
    private readonly schema: JsonObject,
    readonly required: boolean,
  ) {
    if (schema['nullable'] === true) this.nullable = true
    if (schema['default'] !== undefined) this.default = schema['default']
  }

  get type(): Structural {
    return (this.own ??= structuralOf(this.schema))
  }
}

const NOWHERE: readonly never[] = []

const fieldOf = (name: string, type: Structural): Field => ({
  name,
  type,
  omit: 'empty',
  pointer: true,
  required: false,
  patchStrategy: NO_STRATEGY,
  number: 0,
  within: NOWHERE,
  embeddedIn: NOWHERE,
})

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

/** Keywords of the structure, and keywords that do not constrain values. */
const NO_CONSTRAINTS: ReadonlySet<string> = new Set(['properties', 'items', 'additionalProperties', 'description'])

function validationOf(schema: JsonObject): ValueValidation {
  const kept: Record<string, Json | undefined> = {}
  for (const [keyword, value] of Object.entries(schema)) if (!NO_CONSTRAINTS.has(keyword)) setOwn(kept, keyword, value)
  return kept
}

/** Results of declaresDefaults, by schema with properties. */
const haveDefaults = new WeakMap<JsonObject, boolean>()

/** Whether a schema has a default anywhere inside. This makes no types. */
function declaresDefaults(schema: JsonObject): boolean {
  if (schema['x-kubernetes-int-or-string'] === true) return false
  const { additionalProperties: values, items, properties } = schema
  const isWith = (below: Json | undefined): boolean =>
    isJsonObject(below) && (hasOwnDefault(below) || declaresDefaults(below))
  switch (schema['type']) {
    case 'array':
      return isWith(items)
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return false
    default: {
      if (!isJsonObject(properties)) return isWith(values)
      let known = haveDefaults.get(schema)
      if (known === undefined)
        haveDefaults.set(schema, (known = isWith(values) || Object.values(properties).some(isWith)))
      return known
    }
  }
}

const hasOwnDefault = (schema: Json | undefined): boolean => isJsonObject(schema) && schema['default'] !== undefined

/** `default` and `nullable` of any schema: of a field, an element or a value of a map. */
export const defaultOf = ({ validation }: { validation?: ValueValidation }): Json | undefined => validation?.['default']
export const isNullable = ({ validation }: { validation?: ValueValidation }): boolean =>
  validation?.['nullable'] === true
export const preservesUnknown = ({ validation }: { validation?: ValueValidation }): boolean =>
  validation?.['x-kubernetes-preserve-unknown-fields'] === true
