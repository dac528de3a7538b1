/**
 * Models of custom resources: the schema of a CustomResourceDefinition in OpenAPI, with the members that every object
 * has (apiextensions' controller/openapi/builder). In v2 kube-apiserver leaves out the keywords that v2 lacks, and
 * some on which old kubectl versions fail (controller/openapi/v2/conversion.go).
 */
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue, setOwn } from '../base/own.ts'
import { sortNames, sortedKeys, sortedTexts } from '../base/name-order.ts'
import { eachName, inParts, kept, mapParts } from '../base/parts.ts'
import type { Steps } from '../base/slices.ts'
import type { ResourceEntry } from '../registry/served/resources.ts'
import type { Describe, OpenApiVersion } from '../schema/to-openapi.ts'
import { kindEntry, referenceTo } from '../schema/to-openapi.ts'
import { customModelName } from '../registry/custom-resources/custom-model-name.ts'
import type { Member } from './members.ts'
import { jsonOf } from './members.ts'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
/** Every model has the same descriptions of kind, apiVersion and metadata. Those of Pod are used. */
const ANY_KIND = 'io.k8s.api.core.v1.Pod'

/** The weight of a property in `PART`. */
const WEIGHT = 32

/** Of a kind and of its list. */
export const modelNames = ({ group, version, kind, listKind }: ResourceEntry): [own: string, list: string] => [
  customModelName(group, version, kind),
  customModelName(group, version, listKind),
]

/** The models of a kind and of its list. Each is made on first use. */
export function modelMembers(entry: ResourceEntry, version: OpenApiVersion, describe: Describe): Member[] {
  const [own, list] = modelNames(entry)
  return [
    [own, () => jsonOf(ownModel(entry, version, describe))],
    [list, () => JSON.stringify(listModel(entry, own, version, describe))],
  ]
}

function* ownModel(entry: ResourceEntry, version: OpenApiVersion, describe: Describe): Steps<JsonObject> {
  // read once: the getter may parse the schema, and a walk in parts needs the same value in each run
  const { schema, preserveUnknownFields } = entry.openApi ?? {}
  const extensions = extensionsOf(entry, entry.kind)
  return yield* inParts(() =>
    ordered({ ...contentsOf(schema, preserveUnknownFields === true, version, describe), ...extensions }),
  )
}

function extensionsOf(entry: ResourceEntry, kind: string): JsonObject {
  const selectable = entry.openApi?.selectableFields ?? []
  return {
    'x-kubernetes-group-version-kind': [kindEntry(entry.group, entry.version, kind)],
    ...(selectable.length === 0
      ? {}
      : { 'x-kubernetes-selectable-fields': selectable.map((path) => ({ fieldPath: path.replace(/^\./, '') })) }),
  }
}

function contentsOf(
  schema: JsonObject | undefined,
  preserveUnknownFields: boolean,
  version: OpenApiVersion,
  describe: Describe,
): JsonObject {
  if (schema === undefined) return { type: 'object' }
  // a schema without properties: old kubectl versions would refuse every field that it does not list
  if (version === 'v2' && (preserveUnknownFields || schema['x-kubernetes-preserve-unknown-fields'] === true))
    return { type: 'object' }
  return new Publisher(version, describe).schema(schema, objectProperties(version, describe))
}

const text = (description: string | undefined): JsonObject => ({ description: description ?? '', type: 'string' })

const metadata = (version: OpenApiVersion, describe: Describe): JsonObject =>
  described(referenceTo(`${META}.ObjectMeta`, version), version, describe(ANY_KIND, 'metadata'))

/** In v3 a $ref has no siblings. */
const described = (reference: JsonObject, version: OpenApiVersion, description: string | undefined): JsonObject =>
  version === 'v2' ? { description, ...reference } : { description, allOf: [reference] }

const objectProperties = (version: OpenApiVersion, describe: Describe): JsonObject => ({
  apiVersion: text(describe(ANY_KIND, 'apiVersion')),
  kind: text(describe(ANY_KIND, 'kind')),
  metadata: metadata(version, describe),
})

function listModel(entry: ResourceEntry, own: string, version: OpenApiVersion, describe: Describe): JsonObject {
  const items = describe(`${ANY_KIND}List`, 'items')?.replace('List of pods', `List of ${entry.resource}`)
  return {
    description: `${entry.listKind} is a list of ${entry.kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: text(describe(ANY_KIND, 'apiVersion')),
      items: { description: items, type: 'array', items: referenceTo(own, version) },
      kind: text(describe(ANY_KIND, 'kind')),
      metadata: described(referenceTo(`${META}.ListMeta`, version), version, describe(`${ANY_KIND}List`, 'metadata')),
    },
    ...extensionsOf(entry, entry.listKind),
  }
}

/** Keywords of a schema in the order in which kube-apiserver writes them. Extensions follow, sorted by name. */
const ORDER = [
  'description',
  'type',
  'nullable',
  'format',
  'title',
  'default',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'enum',
  'maxProperties',
  'minProperties',
  'required',
  'items',
  'allOf',
  'oneOf',
  'anyOf',
  'not',
  'properties',
  'additionalProperties',
  'externalDocs',
  'example',
] as const

const RULE_ORDER = ['rule', 'message', 'messageExpression', 'reason', 'fieldPath', 'optionalOldSelf'] as const

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === '' || value === false || (Array.isArray(value) && value.length === 0)

/** Leaves out empty values, except those of `default` and `example`. */
function ordered(schema: JsonObject): JsonObject {
  const result: JsonObject = {}
  for (const name of ORDER) {
    const value = schema[name]
    const counts = name === 'default' || name === 'example' || name === 'additionalProperties'
    if (value !== undefined && (counts || !isEmpty(value))) result[name] = value
  }
  const { properties } = result
  if (isJsonObject(properties) && !inOrder.has(properties)) {
    if (Object.keys(properties).length === 0) delete result['properties']
    else result['properties'] = byName(properties)
  }
  for (const name of Object.keys(schema).sort())
    if (name.startsWith('x-') && !isEmpty(schema[name])) setOwn(result, name, schema[name])
  return result
}

function byName(object: JsonObject): JsonObject {
  return Object.fromEntries(sortNames(Object.keys(object)).map((name) => [name, object[name]]))
}

class Publisher {
  constructor(
    private readonly version: OpenApiVersion,
    private readonly describe: Describe,
  ) {}

  /** @param more properties that it has beside its own, which they take the place of */
  schema(source: JsonObject, more: JsonObject = NOTHING): JsonObject {
    const shown = this.version === 'v2' ? forV2(source) : unfolded(source)
    const { items, properties, additionalProperties } = shown
    const result: JsonObject = { ...shown }
    if (isJsonObject(items)) result['items'] = this.schema(items)
    if (isJsonObject(additionalProperties)) result['additionalProperties'] = this.schema(additionalProperties)
    const ofEmbedded = this.embedded(shown)
    const added = ofEmbedded === undefined ? more : { ...ofEmbedded.properties, ...more }
    if (ofEmbedded !== undefined) result['required'] = ofEmbedded.required
    if (isJsonObject(properties)) result['properties'] = mapValues(properties, (one) => this.schema(one), added)
    else if (added !== NOTHING) result['properties'] = added
    for (const name of ['allOf', 'anyOf', 'oneOf'] as const)
      if (Array.isArray(shown[name])) result[name] = mapParts(shown[name], nested, WEIGHT)
    if (isJsonObject(shown['not'])) result['not'] = nested(shown['not'])
    const rules = shown['x-kubernetes-validations']
    if (Array.isArray(rules))
      result['x-kubernetes-validations'] = rules.map((rule) => (isJsonObject(rule) ? this.rule(rule) : rule))
    return ordered(result)
  }

  /** In v2 the members are sorted by name, because kube-apiserver holds them in a map. */
  private rule(rule: JsonObject): JsonObject {
    if (this.version === 'v2') return byName(rule)
    return Object.fromEntries(RULE_ORDER.filter((name) => rule[name] !== undefined).map((name) => [name, rule[name]]))
  }

  /** An embedded object also has the members that every object has; undefined: it is none. */
  private embedded(schema: JsonObject): { readonly required: Json; readonly properties: JsonObject } | undefined {
    if (schema['x-kubernetes-embedded-resource'] !== true) return undefined
    if (this.version === 'v2' && schema['x-kubernetes-preserve-unknown-fields'] === true) return undefined
    const required = Array.isArray(schema['required']) ? schema['required'] : []
    const documentation = (this.describe(ANY_KIND, 'apiVersion') ?? '').replace(/^.*? More info: /s, '')
    const types = (this.describe(ANY_KIND, 'kind') ?? '').replace(/^.*? More info: /s, '')
    return {
      required: [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))],
      properties: {
        apiVersion: text(
          `apiVersion defines the versioned schema of this representation of an object. More info: ${documentation}`,
        ),
        kind: text(`kind is a string value representing the type of this object. In CamelCase. More info: ${types}`),
        metadata: metadata(this.version, this.describe),
      },
    }
  }
}

const NOTHING = Object.freeze<JsonObject>({})

/** Properties that are already sorted by name. An entry goes with its model. */
const inOrder = new WeakSet<JsonObject>()

/** Sorted by name, as they are published. @param more members that take the place of those of their names */
function mapValues(object: JsonObject, change: (value: JsonObject) => JsonObject, more = NOTHING): JsonObject {
  const result = kept(object, (): JsonObject => ({}))
  const namesOf = (): string[] =>
    more === NOTHING ? sortedKeys(object) : sortedTexts([...new Set([...Object.keys(object), ...Object.keys(more)])])
  eachName(
    object,
    namesOf,
    (name) => {
      const added = ownValue(more, name)
      const value = object[name]
      setOwn(result, name, added ?? (isJsonObject(value) ? change(value) : value))
      inOrder.add(result)
    },
    WEIGHT,
  )
  return result
}

/** A schema within allOf, anyOf, oneOf or not, which only constrains values. */
function nested(source: Json): Json {
  if (!isJsonObject(source)) return source
  const result: JsonObject = { ...source }
  for (const name of ['items', 'not', 'additionalProperties'] as const)
    if (isJsonObject(source[name])) result[name] = nested(source[name])
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    const list = source[name]
    if (Array.isArray(list)) result[name] = mapParts(list, nested, WEIGHT)
  }
  if (isJsonObject(source['properties']))
    result['properties'] = mapValues(source['properties'], (one) => nested(one) as JsonObject)
  return ordered(result)
}

const INT_OR_STRING: Json = [{ type: 'integer' }, { type: 'string' }]

const saysIntOrString = (anyOf: Json | undefined): boolean => {
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return false
  const [first, second] = anyOf
  return isJsonObject(first) && isJsonObject(second) && first['type'] === 'integer' && second['type'] === 'string'
}

/** Writes x-kubernetes-int-or-string as anyOf, for clients that do not know the extension. */
function unfolded(schema: JsonObject): JsonObject {
  if (schema['x-kubernetes-int-or-string'] !== true) return schema
  const { anyOf, allOf } = schema
  const first = Array.isArray(allOf) ? allOf[0] : undefined
  if (saysIntOrString(anyOf) || (isJsonObject(first) && saysIntOrString(first['anyOf']))) return schema
  if (anyOf === undefined) return { ...schema, anyOf: INT_OR_STRING }
  return { ...schema, allOf: [{ anyOf: INT_OR_STRING }, ...(Array.isArray(allOf) ? allOf : [])] }
}

/**
 * Leaves out the keywords that v2 lacks. Where a schema without the keyword would mean something else, its type goes
 * too.
 */
function forV2(source: JsonObject): JsonObject {
  const { allOf: _allOf, anyOf: _anyOf, oneOf: _oneOf, not: _not, default: _default, ...schema } = source
  const result: JsonObject = schema
  const drop = (...names: string[]) => names.forEach((name) => delete result[name])
  const preserves = result['x-kubernetes-preserve-unknown-fields'] === true
  if (result['nullable'] === true) drop('type', 'nullable', 'items', 'properties')
  if (preserves) drop('items', 'properties')
  if (result['type'] === 'array' && result['items'] === undefined) drop('type')
  if (result['type'] === 'object' && preserves) drop('type')
  const { properties, required, additionalProperties } = result
  if (isJsonObject(properties) && Array.isArray(required))
    result['required'] = required.filter((name) => !isNullable(ownValue(properties, String(name))))
  if (isNullable(additionalProperties)) drop('required')
  return result
}

const isNullable = (schema: Json | undefined): boolean => isJsonObject(schema) && schema['nullable'] === true
