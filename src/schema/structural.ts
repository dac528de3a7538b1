/**
 * The one schema. A `Structural` value describes a type of the Kubernetes API, either a built-in one (built-in.ts
 * expands it from the generated table) or one of a CustomResourceDefinition (from-openapi.ts). Decoding, strict
 * checking, pruning, defaulting, server-side apply, strategic merge, OpenAPI, protobuf and CBOR all use only this
 * schema: a fact about a field written anywhere else is a bug.
 */
import type { GroupVersionKind } from '../api/group-version.ts'
import type { Json } from '../api/object.ts'

export type Structural = Leaf | Special | ListType | MapType | StructType | Untyped

/** Go's scalar types, and `number` and `integer` of a CRD's schema, which gives no width. */
export type Scalar = 'string' | 'int32' | 'int64' | 'bool' | 'bytes' | 'double' | 'number' | 'integer'

export interface Leaf {
  readonly shape: 'leaf'
  readonly scalar: Scalar
  /** Go's name of the type in error texts, where the type is not the scalar itself (`v1.PullPolicy`, `types.UID`). */
  readonly goType?: string
  readonly enum?: readonly Json[]
  /** Values that the documentation lists without a declared enum. Other values are valid, too. */
  readonly knownValues?: readonly string[]
  readonly validation?: ValueValidation
}

/** Types whose JSON form is not an object of their fields. */
export type SpecialName =
  | 'time'
  | 'microTime'
  | 'duration'
  | 'quantity'
  | 'intOrString'
  | 'rawExtension'
  | 'fieldsV1'
  | 'json'
  | 'schemaOrArray'
  | 'schemaOrBool'
  | 'schemaOrStringArray'
  | 'unknown'

export interface Special {
  readonly shape: 'special'
  readonly special: SpecialName
  /** JSONSchemaProps, the type inside of the schemaOr… types. */
  readonly of?: () => StructType
  readonly validation?: ValueValidation
}

export interface ListType {
  readonly shape: 'list'
  readonly element: Structural
  /** x-kubernetes-list-type; a list without one is atomic. */
  readonly listType: 'atomic' | 'set' | 'map'
  /** The declared list type, which OpenAPI publishes; absent where a list without declaration is atomic. */
  readonly declaredListType?: 'atomic' | 'set' | 'map'
  /** x-kubernetes-list-map-keys of a `map` list. */
  readonly keys: readonly string[]
  /** Strategic merge (built-in types only). */
  readonly patchStrategy: PatchStrategy
  readonly mergeKey?: string
  /** A Go type that is a list in JSON and a message with one repeated field in protobuf (ExtraValue, Verbs). */
  readonly wrapper?: string
  /** Go's name of the type in error texts, where it does not follow from the name of the element's type. */
  readonly goType?: string
  readonly validation?: ValueValidation
}

export interface MapType {
  readonly shape: 'map'
  readonly value: Structural
  readonly mapType: 'granular' | 'atomic'
  readonly declaredMapType?: 'granular' | 'atomic'
  readonly goType?: string
  readonly validation?: ValueValidation
}

/**
 * kube-apiserver has an object of a built-in type as a Go struct, and a custom resource as JSON with a separate schema
 * (unstructured.Unstructured). Operations that differ have a table with both: codec/decode.ts, codec/encode.ts,
 * schema/defaulting.ts, patch/object-forms.ts, patch/decode-patched.ts, admission/made-object.ts.
 */
export type HeldAs = 'typed' | 'unstructured'

export interface StructType {
  readonly shape: 'struct'
  readonly heldAs: HeldAs
  /** OpenAPI model name (`io.k8s.api.core.v1.Pod`); empty for an anonymous object of a CRD. */
  readonly name: string
  readonly gvk?: GroupVersionKind
  /** JSON has kind and apiVersion; protobuf has them in its envelope. `fields` does not contain them. */
  readonly typeMeta: boolean
  readonly mapType: 'granular' | 'atomic'
  /** The fields in the order of the Go struct, with those of inline structs. First use expands them. */
  readonly fields: readonly Field[]
  field(name: string): Field | undefined
  /** Built-in types only: Go's name in error texts (`v1.Pod`). */
  readonly goType?: string
  /** The members of the protobuf message in the order of the Go struct. Absent: the type has no protobuf form. */
  readonly message?: readonly MessageMember[]
  /** x-kubernetes-unions, as OpenAPI publishes them. */
  readonly unions?: Json
  /** CRD only: x-kubernetes-preserve-unknown-fields, x-kubernetes-embedded-resource. */
  readonly preserveUnknownFields?: boolean
  readonly embeddedResource?: boolean
  /** CRD only: the type of the members beside the declared ones, where `additionalProperties` keeps them. */
  readonly others?: Structural
  /**
   * CRD only: the number of declared properties, the fields with a default, and whether the schema has a default
   * anywhere inside.
   */
  readonly width?: number
  readonly defaulted?: readonly Field[]
  readonly hasDefaultsBelow?: boolean
  readonly validation?: ValueValidation
}

/** A field of the message, or the nested message of a struct that is inline in JSON. */
export type MessageMember = { readonly field: Field } | { readonly inline: StructType; readonly number: number }

/** A value of any JSON type. In a CRD: x-kubernetes-preserve-unknown-fields without type and properties. */
export interface Untyped {
  readonly shape: 'untyped'
  /**
   * CRD only: a member that `additionalProperties: true` keeps. Pruning removes the members of all objects inside of
   * it, because no schema declares them. `false`: the member is invalid, but pruning keeps it all the same.
   */
  readonly undeclared?: 'allowed' | 'forbidden'
  readonly validation?: ValueValidation
}

export interface PatchStrategy {
  readonly merge: boolean
  readonly replace: boolean
  readonly retainKeys: boolean
}

export interface Field {
  readonly name: string
  readonly type: Structural
  /**
   * When a JSON encoder leaves the field out: `empty` (absent, null, "", 0, false, no elements; a struct that is not a
   * pointer is never empty), `zero` (a zero struct too), `never` (the encoder writes null for an absent list, map or
   * pointer).
   */
  readonly omit: 'empty' | 'zero' | 'never'
  /** The Go field is a pointer, so that an absent value differs from the zero value. */
  readonly pointer: boolean
  readonly required: boolean
  readonly nullable?: boolean
  readonly default?: Json
  readonly patchStrategy: PatchStrategy
  readonly mergeKey?: string
  /** The feature gates of the field. */
  readonly featureGates?: readonly string[]
  /** Protobuf: the field number, and the numbers of the inline messages around the field (usually none). */
  readonly number: number
  readonly within: readonly number[]
  /** Go's names of the inline structs around the field, outermost first. They are part of the path in error texts. */
  readonly embeddedIn: readonly string[]
  /**
   * The field's own x-kubernetes-map-type, which differs from that of its struct type (PersistentVolumeSpec.claimRef).
   */
  readonly declaredMapType?: 'granular' | 'atomic'
  /** The list type of a field that is no list in JSON (bytes). */
  readonly declaredListType?: 'atomic' | 'set' | 'map'
  readonly unionDiscriminator?: boolean
}

/** The value constraints of a CRD's OpenAPI schema. Built-in kinds have none: their strategies validate them. */
export interface ValueValidation {
  readonly [keyword: string]: Json | undefined
}
