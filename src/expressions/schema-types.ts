/**
 * CEL types of schemas, with the sizes that the schemas allow. Nodes of a schema are converted on demand: a rule on
 * `self.spec.replicas` reads three nodes of a definition of any size.
 */
import { mostOf } from '../base/extremes.ts'
import type { PathSizes } from '../cel/estimate.ts'
import type { Type, TypeProvider } from '../cel/checker/type.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  STRING,
  structNamed,
  TIMESTAMP,
} from '../cel/checker/type.ts'
import type { Field, Structural, StructType } from '../schema/structural.ts'
import { escapeField, isReserved } from './field-names.ts'
import type { Shape } from './schema-facts.ts'
import { enumOf, isEmbedded, rootFields, shapeOf, sizeKeyword } from './schema-facts.ts'

/** The size of the largest request. It bounds each string, list and map of an object. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024

/** Bytes of the shortest JSON of each type. */
const smallest = { text: 2, duration: 3, date: 12, 'date-time': 21, bool: 4, number: 1, dyn: 1, brackets: 2 } as const
/** Characters of the longest string of each format, with its quotation marks. */
const longest = { duration: 32, date: 12, 'date-time': 32 } as const

export interface DeclaredType {
  readonly node: SchemaNode
  readonly type: Type
  readonly provider: TypeProvider
}

/**
 * @param name name of the root type in messages; nested types are named by their path from it
 * @param isRoot whether it is an API object or an embedded resource, which always has kind, apiVersion and names
 * @returns undefined if expressions cannot see values of the schema
 */
export function declaredTypeOf(schema: Structural, name: string, isRoot: boolean): DeclaredType | undefined {
  const structs = new Map<string, SchemaNode>()
  const node = new SchemaNode(schema, name, isRoot, structs, undefined)
  return node.type && { node, type: node.type, provider: new SchemaTypes(structs) }
}

/** The sizes at paths from variables. As in kube-apiserver, every variable counts as one of the root type. */
export const sizesOf =
  (root: SchemaNode): PathSizes =>
  ([, ...path]) => {
    let node: SchemaNode | undefined = root
    for (const step of path) {
      if (step === '@keys') return node.is === 'map' ? { min: 0, max: 0 } : undefined
      node = step === '@items' || step === '@values' ? node.element : node.fields.get(step)?.node
      if (node?.type === undefined) return undefined
    }
    return { min: 0, max: node.maxElements }
  }

/** How often a value of the node's minimum size fits into a request. */
export const maxCardinality = ({ minSerializedSize }: SchemaNode): number =>
  Math.floor(MAX_REQUEST_BYTES / (minSerializedSize + 1))

/** A field that expressions can see. */
export interface DeclaredField {
  readonly node: SchemaNode
  /** The name of the field in objects. */
  readonly name: string
}

export class SchemaNode {
  private readonly shape: Shape
  private ownType: { readonly type: Type | undefined } | undefined
  private ownElement: SchemaNode | undefined
  private ownFields: ReadonlyMap<string, DeclaredField> | undefined
  private ownMembers: ReadonlyMap<string, SchemaNode> | undefined
  private size: number | undefined

  constructor(
    readonly schema: Structural,
    private readonly name: string,
    readonly isRoot: boolean,
    /** All struct types of the root type, by name. */
    private readonly structs: Map<string, SchemaNode>,
    private readonly parent: SchemaNode | undefined,
  ) {
    this.shape = shapeOf(schema)
  }

  get is(): Shape['is'] {
    return this.shape.is
  }

  get nullable(): boolean {
    return this.schema.validation?.['nullable'] === true
  }

  get textFormat(): string | undefined {
    return this.shape.is === 'string' ? this.shape.format : undefined
  }

  /** Undefined: expressions cannot see the node. */
  get type(): Type | undefined {
    return (this.ownType ??= { type: this.makeType() }).type
  }

  /** The node of the elements of a list or of the values of a map. */
  get element(): SchemaNode | undefined {
    if (this.ownElement !== undefined) return this.ownElement
    if (this.shape.is === 'list') this.ownElement = this.child(this.shape.schema.element, '@idx')
    if (this.shape.is === 'map') this.ownElement = this.child(this.shape.schema.value, '@elem')
    return this.ownElement
  }

  /** The fields that expressions can see, by their escaped names. */
  get fields(): ReadonlyMap<string, DeclaredField> {
    if (this.ownFields !== undefined) return this.ownFields
    const fields = new Map<string, DeclaredField>()
    for (const [name, node] of this.members) {
      const escaped = escapeField(name)
      if (escaped !== undefined && node.type !== undefined) fields.set(escaped, { node, name })
    }
    return (this.ownFields = fields)
  }

  /** All declared fields of an object, by their own names. */
  get members(): ReadonlyMap<string, SchemaNode> {
    return (this.ownMembers ??= new Map(
      this.declaredFields().map((field) => [field.name, this.child(field.type, escapeField(field.name) ?? field.name)]),
    ))
  }

  get minSerializedSize(): number {
    return (this.size ??= this.makeMinSize())
  }

  get maxElements(): number {
    const { schema, shape } = this
    switch (shape.is) {
      case 'int-or-string':
        return times4(sizeKeyword(schema, 'maxLength')) ?? MAX_REQUEST_BYTES - 2
      case 'string':
        return this.longestText(shape.format)
      case 'list':
        return sizeKeyword(schema, 'maxItems') ?? this.asManyAsFit(1)
      case 'map':
        // an entry takes two quotation marks, a colon, a comma and a short key
        return sizeKeyword(schema, 'maxProperties') ?? this.asManyAsFit(6)
      default:
        return 0
    }
  }

  private longestText(format: string | undefined): number {
    if (format === 'duration' || format === 'date' || format === 'date-time') return longest[format]
    const declared = sizeKeyword(this.schema, 'maxLength')
    if (declared !== undefined) return format === 'byte' ? declared : declared * 4
    const values = format === 'byte' ? [] : enumOf(this.schema)
    if (values.length === 0) return MAX_REQUEST_BYTES - 2
    return mostOf(
      values.map((value) => (typeof value === 'string' ? utf8Length(value) : 0)),
      0,
    )
  }

  private asManyAsFit(separators: number): number {
    return Math.floor((MAX_REQUEST_BYTES - 2) / (this.element!.minSerializedSize + separators))
  }

  private makeType(): Type | undefined {
    switch (this.shape.is) {
      case 'hidden':
      case 'quantity':
        return undefined
      case 'int-or-string':
        return DYN
      case 'bool':
        return BOOL
      case 'int':
        return INT
      case 'double':
        return DOUBLE
      case 'string':
        return textTypes[this.shape.format ?? 'text']
      case 'list': {
        const element = this.element!.type
        return element && listOf(element)
      }
      case 'map': {
        const value = this.element!.type
        return value && mapOf(STRING, value)
      }
      case 'object':
        this.structs.set(this.name, this)
        return structNamed(this.name)
    }
  }

  private makeMinSize(): number {
    switch (this.shape.is) {
      case 'bool':
        return smallest.bool
      case 'int':
      case 'double':
        return smallest.number
      case 'string':
        return this.shape.format === undefined || this.shape.format === 'byte'
          ? smallest.text
          : smallest[this.shape.format]
      case 'object':
        return this.requiredFields().reduce(
          (sum, [name, node]) => sum + utf8Length(name) + node.minSerializedSize + 4,
          smallest.brackets as number,
        )
      case 'list':
      case 'map':
        return smallest.brackets
      default:
        return smallest.dyn
    }
  }

  /** The fields that every object in a request has. A client can omit a required field that has a default. */
  private requiredFields(): readonly (readonly [name: string, node: SchemaNode])[] {
    return this.declaredFields()
      .filter((field) => field.required && field.default === undefined)
      .map(({ name }) => [name, this.members.get(name)!] as const)
      .filter(([, node]) => node.type !== undefined)
  }

  private declaredFields(): readonly Field[] {
    if (this.shape.is !== 'object' || this.shape.schema === undefined || this.isWithinItself(this.shape.schema))
      return []
    const struct = this.shape.schema
    if (this.isRoot || struct.typeMeta) return rootFields(struct)
    return struct.fields
  }

  /**
   * Whether a built-in type contains itself, like JSONSchemaProps. As in kube-apiserver the inner one has no fields.
   */
  private isWithinItself(struct: StructType): boolean {
    if (struct.name === '') return false
    for (let node = this.parent; node !== undefined; node = node.parent) if (node.schema === struct) return true
    return false
  }

  private child(schema: Structural, step: string): SchemaNode {
    return new SchemaNode(schema, `${this.name}.${step}`, isEmbedded(schema), this.structs, this)
  }
}

const textTypes = {
  text: STRING,
  byte: BYTES,
  duration: DURATION,
  date: TIMESTAMP,
  'date-time': TIMESTAMP,
} as const

const times4 = (size: number | undefined): number | undefined => (size === undefined ? undefined : size * 4)

const encoder = new TextEncoder()
const utf8Length = (text: string): number => encoder.encode(text).length

/** Provides the types of a schema to the checker. */
class SchemaTypes implements TypeProvider {
  constructor(private readonly structs: ReadonlyMap<string, SchemaNode>) {}

  findStruct(name: string): Type | undefined {
    return this.structs.get(name)?.type
  }

  /** A field with the name of a reserved word is found by its name and by its escaped name. */
  findField(struct: string, field: string): Type | undefined {
    const fields = this.structs.get(struct)?.fields
    return (fields?.get(field) ?? (isReserved(field) ? fields?.get(`__${field}__`) : undefined))?.node.type
  }

  fieldNames(struct: string): readonly string[] {
    return [...(this.structs.get(struct)?.fields.keys() ?? [])]
  }
}

/** Combines providers. The first one that has a type provides it. */
export function typesOf(...providers: readonly TypeProvider[]): TypeProvider {
  const owner = (name: string): TypeProvider | undefined =>
    providers.find((provider) => provider.findStruct(name) !== undefined)
  return {
    findStruct: (name) => owner(name)?.findStruct(name),
    findField: (struct, field) => owner(struct)?.findField(struct, field),
    fieldNames: (struct) => owner(struct)?.fieldNames(struct) ?? [],
    isValue: (name) => owner(name)?.isValue?.(name) ?? true,
    newStruct: (name, fields) => owner(name)!.newStruct!(name, fields),
  }
}
