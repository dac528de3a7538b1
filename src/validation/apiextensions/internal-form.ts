/**
 * The internal version of a CustomResourceDefinition in kube-apiserver (apiextensions' conversion from v1). Members that
 * are equal in all versions stand once, in its spec. Error texts contain its paths and values.
 */
import { mapParts } from '../../base/parts.ts'
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  SelectableField,
  ValidationRule,
} from '../../api/apiextensions/v1.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { lazy } from '../../base/lazy.ts'
import { sentField } from '../../schema/emptied.ts'
import { valuesEqual } from '../../json/value-order.ts'

export interface InternalSpec {
  readonly versions: readonly CustomResourceDefinitionVersion[]
  readonly validation?: CustomResourceValidation
  readonly subresources?: CustomResourceSubresources
  readonly additionalPrinterColumns: readonly CustomResourceColumnDefinition[]
  readonly selectableFields: readonly SelectableField[]
}

export function internalSpec({ versions = [] }: CustomResourceDefinitionSpec): InternalSpec {
  const [first] = versions
  if (first === undefined) return { versions, additionalPrinterColumns: [], selectableFields: [] }
  const isCommon = (field: keyof CustomResourceDefinitionVersion) =>
    versions.every((version) => sameValue(version[field], first[field]))
  const common = {
    schema: isCommon('schema'),
    subresources: isCommon('subresources'),
    additionalPrinterColumns: isCommon('additionalPrinterColumns'),
    selectableFields: isCommon('selectableFields'),
  }
  return {
    versions: versions.map((version) => {
      const own = { ...version }
      if (common.schema) delete own.schema
      if (common.subresources) delete own.subresources
      if (common.additionalPrinterColumns) delete own.additionalPrinterColumns
      if (common.selectableFields) delete own.selectableFields
      return own
    }),
    ...(common.schema && first.schema !== undefined ? { validation: first.schema } : {}),
    ...(common.subresources && first.subresources !== undefined ? { subresources: first.subresources } : {}),
    additionalPrinterColumns: common.additionalPrinterColumns ? (first.additionalPrinterColumns ?? []) : [],
    selectableFields: common.selectableFields ? (first.selectableFields ?? []) : [],
  }
}

// members of a decoded object are JSON
const sameValue = (a: unknown, b: unknown): boolean => valuesEqual(emptyAsAbsent(a), emptyAsAbsent(b))
const emptyAsAbsent = (value: unknown): Json | undefined =>
  Array.isArray(value) && value.length === 0 ? undefined : (value as Json | undefined)

type Shape = readonly (readonly [go: string, json: string, zero: Json, shape?: () => Dump])[]
type Dump = (value: Json) => Json

const struct =
  (shape: Shape): Dump =>
  (value) => {
    const from = isJsonObject(value) ? value : {}
    return Object.fromEntries(
      shape.map(([go, json, zero, below]) => {
        const member = sentField(from, json)
        // what the client sent for `items`, and is no schema
        const isNone = member === null && below !== orArray
        if (member === undefined || isNone) return [go, zero]
        return [go, below === undefined ? member : below()(member)]
      }),
    )
  }
const list = (of: () => Dump) => (): Dump => (value) => (Array.isArray(value) ? value.map(of()) : value)
const map = (of: () => Dump) => (): Dump => (value) =>
  isJsonObject(value)
    ? Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((name) => [name, of()(value[name] ?? null)]),
      )
    : value
const orBool = (): Dump => (value) =>
  typeof value === 'boolean' ? { Allows: value, Schema: null } : { Allows: true, Schema: schema()(value) }
const orArray = (): Dump => (value) =>
  Array.isArray(value)
    ? { Schema: null, JSONSchemas: value.map(schema()) }
    : { Schema: value === null ? null : schema()(value), JSONSchemas: null }
const orStrings = (): Dump => (value) =>
  Array.isArray(value) ? { Schema: null, Property: value } : { Schema: schema()(value), Property: null }

const ruleDump: Dump = struct([
  ['Rule', 'rule', ''],
  ['Message', 'message', ''],
  ['MessageExpression', 'messageExpression', ''],
  ['Reason', 'reason', null],
  ['FieldPath', 'fieldPath', ''],
  ['OptionalOldSelf', 'optionalOldSelf', null],
])

const schema = (): Dump => schemaDump
const schemaDump: Dump = struct([
  ['ID', 'id', ''],
  ['Schema', '$schema', ''],
  ['Ref', '$ref', null],
  ['Description', 'description', ''],
  ['Type', 'type', ''],
  ['Nullable', 'nullable', false],
  ['Format', 'format', ''],
  ['Title', 'title', ''],
  ['Default', 'default', null],
  ['Maximum', 'maximum', null],
  ['ExclusiveMaximum', 'exclusiveMaximum', false],
  ['Minimum', 'minimum', null],
  ['ExclusiveMinimum', 'exclusiveMinimum', false],
  ['MaxLength', 'maxLength', null],
  ['MinLength', 'minLength', null],
  ['Pattern', 'pattern', ''],
  ['MaxItems', 'maxItems', null],
  ['MinItems', 'minItems', null],
  ['UniqueItems', 'uniqueItems', false],
  ['MultipleOf', 'multipleOf', null],
  ['Enum', 'enum', null],
  ['MaxProperties', 'maxProperties', null],
  ['MinProperties', 'minProperties', null],
  ['Required', 'required', null],
  ['Items', 'items', null, orArray],
  ['AllOf', 'allOf', null, list(schema)],
  ['OneOf', 'oneOf', null, list(schema)],
  ['AnyOf', 'anyOf', null, list(schema)],
  ['Not', 'not', null, schema],
  ['Properties', 'properties', null, map(schema)],
  ['AdditionalProperties', 'additionalProperties', null, orBool],
  ['PatternProperties', 'patternProperties', null, map(schema)],
  ['Dependencies', 'dependencies', null, map(orStrings)],
  ['AdditionalItems', 'additionalItems', null, orBool],
  ['Definitions', 'definitions', null, map(schema)],
  [
    'ExternalDocs',
    'externalDocs',
    null,
    () =>
      struct([
        ['Description', 'description', ''],
        ['URL', 'url', ''],
      ]),
  ],
  ['Example', 'example', null],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', null],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', false],
  ['XIntOrString', 'x-kubernetes-int-or-string', false],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', null],
  ['XListType', 'x-kubernetes-list-type', null],
  ['XMapType', 'x-kubernetes-map-type', null],
  ['XValidations', 'x-kubernetes-validations', null, list(() => ruleDump)],
])

const versionDump = struct([
  ['Name', 'name', ''],
  ['Served', 'served', false],
  ['Storage', 'storage', false],
  ['Deprecated', 'deprecated', false],
  ['DeprecationWarning', 'deprecationWarning', null],
  ['Schema', 'schema', null, () => struct([['OpenAPIV3Schema', 'openAPIV3Schema', null, schema]])],
  [
    'Subresources',
    'subresources',
    null,
    () =>
      struct([
        ['Status', 'status', null],
        [
          'Scale',
          'scale',
          null,
          () =>
            struct([
              ['SpecReplicasPath', 'specReplicasPath', ''],
              ['StatusReplicasPath', 'statusReplicasPath', ''],
              ['LabelSelectorPath', 'labelSelectorPath', null],
            ]),
        ],
      ]),
  ],
  [
    'AdditionalPrinterColumns',
    'additionalPrinterColumns',
    null,
    list(() =>
      struct([
        ['Name', 'name', ''],
        ['Type', 'type', ''],
        ['Format', 'format', ''],
        ['Description', 'description', ''],
        ['Priority', 'priority', 0],
        ['JSONPath', 'jsonPath', ''],
      ]),
    ),
  ],
  ['SelectableFields', 'selectableFields', null, list(() => struct([['JSONPath', 'jsonPath', '']]))],
])

/** The versions in kube-apiserver's error texts, with the names of Go's fields. */
export const internalVersions = (versions: readonly CustomResourceDefinitionVersion[] | undefined): Json =>
  versions === undefined ? null : mapParts(versions, (version) => versionDump(version as unknown as Json))

/** A schema in kube-apiserver's error texts. */
export const internalSchema = (value: unknown): Json => schemaDump(value as Json)

/** The value of `items` in kube-apiserver's error texts. */
export const internalItems = (value: unknown): Json => orArray()(value as Json)

/** The fields of an empty schema. */
export const zeroSchema = lazy(() => schemaDump({}) as JsonObject)

/** A rule in kube-apiserver's error texts. */
export const internalRule = (rule: ValidationRule): Json => ruleDump(rule as unknown as Json)
