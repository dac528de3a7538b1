/**
 * Converts another server's OpenAPI v2 document to v3, as kube-aggregator does (kube-openapi's openapiconv). It
 * leaves out members that v3 lacks, and does not change references within allOf, anyOf and the like.
 */
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { ownValue, setOwn } from '../base/own.ts'
import { Pace } from '../base/pace.ts'
import type { Steps } from '../base/slices.ts'

/** The converted document is larger than this server keeps. */
export class TooLarge extends Error {}

/**
 * @param document JSON, nested no deeper than a call stack @param most characters of all schemas of bodies. @throws
 * TooLarge
 */
export const v3OfV2 = (document: JsonObject, most: number): Steps<JsonObject> => new Conversion(most).document(document)

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']

/** Members that v3 takes over unchanged, for each kind of object. */
const OF_PATHS = new Set(['$ref'])
const OF_OPERATIONS = new Set(['tags', 'summary', 'description', 'externalDocs', 'operationId', 'deprecated'])
const OF_RESPONSES = new Set(['description'])
const OF_PARAMETERS = new Set(['name', 'in', 'description'])
const OF_SECURITY_SCHEMES = new Set(['type', 'description', 'name', 'in'])

const DEFINITIONS = '#/definitions/'

class Conversion {
  /**
   * Characters that schemas may still take. Each media type gets a copy of the schema, and another server may name
   * any number of them.
   */
  #left: number
  readonly #pace = new Pace()

  constructor(most: number) {
    this.#left = most
  }

  *document(v2: JsonObject): Steps<JsonObject> {
    const produces = textsOf(v2, 'produces')
    const paths = yield* this.#mapped(member(v2, 'paths'), (item, path) =>
      isExtension(path) ? as(item) : this.#pathItem(item),
    )
    const schemas = yield* this.#mapped(member(v2, 'definitions'), (schema) => this.#schema(schema))
    const responses = yield* this.#mapped(member(v2, 'responses'), (one) => this.#response(one, produces))
    const securitySchemes = yield* this.#mapped(member(v2, 'securityDefinitions'), (one) => as(securityScheme(one)))
    return present({
      openapi: '3.0.0',
      info: member(v2, 'info'),
      paths,
      components: present({ schemas, responses, securitySchemes }),
      externalDocs: member(v2, 'externalDocs'),
    })
  }

  *#pathItem(item: Json): Steps<Json> {
    if (!isJsonObject(item)) return {}
    const parameters = yield* this.#list(listOf(item, 'parameters'), (one) => this.#parameter(one))
    const operations: [string, Json | undefined][] = []
    for (const method of METHODS) {
      const operation = member(item, method)
      operations.push([method, isJsonObject(operation) ? yield* this.#operation(operation) : undefined])
    }
    return present({
      ...kept(item, OF_PATHS),
      ...Object.fromEntries(operations),
      parameters: parameters.length === 0 ? undefined : parameters,
    })
  }

  *#operation(operation: JsonObject): Steps<JsonObject> {
    const all = listOf(operation, 'parameters')
    const body = all.findLast(isBody)
    const others = yield* this.#list(
      all.filter((one) => !isBody(one)),
      (one) => this.#parameter(one),
    )
    const produces = textsOf(operation, 'produces')
    const content = body && (yield* this.#content(textsOf(operation, 'consumes'), body['schema']))
    const responses = yield* this.#mapped(member(operation, 'responses') ?? {}, (one, code) =>
      isExtension(code)
        ? as(one)
        : /^(?:default|-?\d+)$/.test(code)
          ? this.#response(one, produces)
          : as<Json | undefined>(undefined),
    )
    return present({
      ...kept(operation, OF_OPERATIONS),
      parameters: others.length === 0 ? undefined : others,
      requestBody: body && present({ content }),
      responses,
    })
  }

  *#response(response: Json, produces: readonly string[] | undefined): Steps<Json> {
    if (!isJsonObject(response)) return {}
    const { schema } = response
    return present({
      ...kept(response, OF_RESPONSES),
      $ref: referenceOf(response, 'responses'),
      content: schema === undefined ? undefined : yield* this.#content(produces, schema),
    })
  }

  *#content(types: readonly string[] | undefined, v2: Json | undefined): Steps<JsonObject | undefined> {
    if (types === undefined || types.length === 0) return undefined
    const schema = yield* this.#schema(v2 ?? null)
    this.#left -= types.length * JSON.stringify(schema).length
    if (this.#left < 0) throw new TooLarge('a document of OpenAPI v2 has too many media types')
    return Object.fromEntries(types.map((type) => [type, { schema }]))
  }

  *#parameter(parameter: Json): Steps<Json> {
    if (!isJsonObject(parameter)) return {}
    const { type = '', format, uniqueItems, schema } = parameter
    return present({
      ...kept(parameter, OF_PARAMETERS),
      $ref: referenceOf(parameter, 'parameters'),
      required: parameter['required'] === true ? true : undefined,
      allowEmptyValue: parameter['allowEmptyValue'] === true ? true : undefined,
      schema: isJsonObject(schema)
        ? yield* this.#schema(schema)
        : present({ type, format: format === '' ? undefined : format, uniqueItems: uniqueItems || undefined }),
    })
  }

  *#schema(schema: Json): Steps<Json> {
    if (this.#pace.isOver()) yield
    if (!isJsonObject(schema)) return schema
    const members: [string, Json][] = []
    for (const [name, value] of membersOf(schema)) members.push([name, yield* this.#part(name, value)])
    const reference = members.find(([name]) => name === '$ref')
    // in v3 a $ref has no siblings
    if (reference === undefined || members.length === 1) return Object.fromEntries(members)
    const others = members.filter(([name]) => name !== '$ref' && name !== 'allOf')
    return Object.fromEntries([...others, ['allOf', [Object.fromEntries([reference])]]])
  }

  *#part(name: string, value: Json): Steps<Json> {
    switch (name) {
      case '$ref': {
        const at = typeof value === 'string' ? value.indexOf(DEFINITIONS) : -1
        return at < 0 ? value : `#/components/schemas/${(value as string).slice(at + DEFINITIONS.length)}`
      }
      case 'properties':
        return (yield* this.#mapped(value, (one) => this.#schema(one))) ?? value
      case 'items':
        return Array.isArray(value) ? yield* this.#list(value, (one) => this.#schema(one)) : yield* this.#schema(value)
      case 'additionalProperties':
      case 'additionalItems':
        return yield* this.#schema(value)
      default:
        return value
    }
  }

  *#list(list: readonly Json[], of: (one: Json) => Steps<Json>): Steps<Json[]> {
    const made: Json[] = []
    for (const one of list) {
      if (this.#pace.isOver()) yield
      made.push(yield* of(one))
    }
    return made
  }

  /** Leaves out members for which `of` returns undefined. Undefined where the value is no object. */
  *#mapped(
    value: Json | undefined,
    of: (one: Json, name: string) => Steps<Json | undefined>,
  ): Steps<JsonObject | undefined> {
    if (!isJsonObject(value)) return undefined
    const made: JsonObject = {}
    for (const [name, one] of membersOf(value)) {
      if (this.#pace.isOver()) yield
      const member = yield* of(one, name)
      if (member !== undefined) setOwn(made, name, member)
    }
    return made
  }
}

/** A value that v3 takes over unchanged. */
function* as<Of extends Json | undefined>(value: Of): Steps<Of> {
  return value
}

const isBody = (parameter: Json): parameter is JsonObject =>
  isJsonObject(parameter) && parameter['name'] === 'body' && isJsonObject(parameter['schema'])

function securityScheme(scheme: Json): Json {
  if (!isJsonObject(scheme)) return {}
  const { flow, authorizationUrl, tokenUrl, scopes } = scheme
  return present({
    ...kept(scheme, OF_SECURITY_SCHEMES),
    flows:
      typeof flow === 'string' && flow !== ''
        ? Object.fromEntries([[flow, present({ authorizationUrl, tokenUrl, scopes })]])
        : undefined,
  })
}

/** The `$ref` of a parameter or a response; undefined where it has none. */
function referenceOf(one: JsonObject, section: 'parameters' | 'responses'): string | undefined {
  const reference = one['$ref']
  return typeof reference === 'string' && reference !== ''
    ? reference.replace(`#/${section}/`, `#/components/${section}/`)
    : undefined
}

const member = (object: JsonObject, name: string): Json | undefined => ownValue(object, name)

const membersOf = (object: JsonObject): [string, Json][] =>
  Object.entries(object).flatMap(([name, value]): [string, Json][] => (value === undefined ? [] : [[name, value]]))

const isExtension = (name: string): boolean => /^x-/i.test(name)

/** Keeps the named members and all extensions. */
const kept = (object: JsonObject, names: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(membersOf(object).filter(([name]) => names.has(name) || isExtension(name)))

const listOf = (object: JsonObject, name: string): readonly Json[] => {
  const value = member(object, name)
  return Array.isArray(value) ? value : []
}

function textsOf(object: JsonObject, name: string): readonly string[] | undefined {
  const value = member(object, name)
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined
}

const present = (members: { readonly [name: string]: Json | undefined }): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject
