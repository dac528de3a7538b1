/**
 * OpenAPI v3 of a server that has v2 alone, made as kube-aggregator makes it (kube-openapi's openapiconv): what v3 has no
 * place for is left out, and references within allOf, anyOf and the like stay as they are.
 */
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'

/** What another server said makes more than this server keeps. */
export class TooLarge extends Error {}

/** @param document JSON, nested no deeper than a call stack @param most characters of all schemas of bodies. @throws TooLarge */
export const v3OfV2 = (document: JsonObject, most: number): JsonObject => new Conversion(most).document(document)

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']

/** Members that are the same in v3. */
const OF_PATHS = new Set(['$ref'])
const OF_OPERATIONS = new Set(['tags', 'summary', 'description', 'externalDocs', 'operationId', 'deprecated'])
const OF_RESPONSES = new Set(['description'])
const OF_PARAMETERS = new Set(['name', 'in', 'description'])
const OF_SECURITY_SCHEMES = new Set(['type', 'description', 'name', 'in'])

const DEFINITIONS = '#/definitions/'

class Conversion {
  /** Characters: a schema is written once for each media type, of which a server may name any number. */
  #left: number

  constructor(most: number) {
    this.#left = most
  }

  document(v2: JsonObject): JsonObject {
    return present({
      openapi: '3.0.0',
      info: member(v2, 'info'),
      paths: mapped(member(v2, 'paths'), (item, path) => (isExtension(path) ? item : this.#pathItem(item))),
      components: present({
        schemas: mapped(member(v2, 'definitions'), schemaOf),
        responses: mapped(member(v2, 'responses'), (one) => this.#response(one, textsOf(v2, 'produces'))),
        securitySchemes: mapped(member(v2, 'securityDefinitions'), securityScheme),
      }),
      externalDocs: member(v2, 'externalDocs'),
    })
  }

  #pathItem(item: Json): Json {
    if (!isJsonObject(item)) return {}
    const parameters = listOf(item, 'parameters').map(parameterOf)
    return present({
      ...kept(item, OF_PATHS),
      ...Object.fromEntries(
        METHODS.map((method) => {
          const operation = member(item, method)
          return [method, isJsonObject(operation) ? this.#operation(operation) : undefined]
        }),
      ),
      parameters: parameters.length === 0 ? undefined : parameters,
    })
  }

  #operation(operation: JsonObject): JsonObject {
    const all = listOf(operation, 'parameters')
    const body = all.findLast(isBody)
    const others = all.filter((one) => !isBody(one)).map(parameterOf)
    const produces = textsOf(operation, 'produces')
    return present({
      ...kept(operation, OF_OPERATIONS),
      parameters: others.length === 0 ? undefined : others,
      requestBody: body && present({ content: this.#content(textsOf(operation, 'consumes'), body['schema']) }),
      responses: mapped(member(operation, 'responses') ?? {}, (one, code) =>
        isExtension(code) ? one : /^(?:default|-?\d+)$/.test(code) ? this.#response(one, produces) : undefined,
      ),
    })
  }

  #response(response: Json, produces: readonly string[] | undefined): Json {
    if (!isJsonObject(response)) return {}
    return present({
      ...kept(response, OF_RESPONSES),
      $ref: referenceOf(response, 'responses'),
      content: response['schema'] === undefined ? undefined : this.#content(produces, response['schema']),
    })
  }

  #content(types: readonly string[] | undefined, v2: Json | undefined): JsonObject | undefined {
    if (types === undefined || types.length === 0) return undefined
    const schema = schemaOf(v2 ?? null)
    this.#left -= types.length * JSON.stringify(schema).length
    if (this.#left < 0) throw new TooLarge('a document of OpenAPI v2 has too many media types')
    return Object.fromEntries(types.map((type) => [type, { schema }]))
  }
}

const isBody = (parameter: Json): parameter is JsonObject =>
  isJsonObject(parameter) && parameter['name'] === 'body' && isJsonObject(parameter['schema'])

function parameterOf(parameter: Json): Json {
  if (!isJsonObject(parameter)) return {}
  const { type = '', format, uniqueItems, schema } = parameter
  return present({
    ...kept(parameter, OF_PARAMETERS),
    $ref: referenceOf(parameter, 'parameters'),
    required: parameter['required'] === true ? true : undefined,
    allowEmptyValue: parameter['allowEmptyValue'] === true ? true : undefined,
    schema: isJsonObject(schema)
      ? schemaOf(schema)
      : present({ type, format: format === '' ? undefined : format, uniqueItems: uniqueItems || undefined }),
  })
}

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

function schemaOf(schema: Json): Json {
  if (!isJsonObject(schema)) return schema
  const members = membersOf(schema).map(([name, value]): [string, Json] => [name, partOf(name, value)])
  const reference = members.find(([name]) => name === '$ref')
  // v3 has nothing beside a reference
  if (reference === undefined || members.length === 1) return Object.fromEntries(members)
  const others = members.filter(([name]) => name !== '$ref' && name !== 'allOf')
  return Object.fromEntries([...others, ['allOf', [Object.fromEntries([reference])]]])
}

function partOf(name: string, value: Json): Json {
  switch (name) {
    case '$ref': {
      const at = typeof value === 'string' ? value.indexOf(DEFINITIONS) : -1
      return at < 0 ? value : `#/components/schemas/${(value as string).slice(at + DEFINITIONS.length)}`
    }
    case 'properties':
      return mapped(value, schemaOf) ?? value
    case 'items':
      return Array.isArray(value) ? value.map(schemaOf) : schemaOf(value)
    case 'additionalProperties':
    case 'additionalItems':
      return schemaOf(value)
    default:
      return value
  }
}

/** Of a parameter or a response. */
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

/** These members, and all extensions. */
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

/** Without those that `of` makes nothing of; undefined where it is no object. */
const mapped = (value: Json | undefined, of: (one: Json, name: string) => Json | undefined): JsonObject | undefined =>
  isJsonObject(value)
    ? Object.fromEntries(
        membersOf(value).flatMap(([name, one]): [string, Json][] => {
          const made = of(one, name)
          return made === undefined ? [] : [[name, made]]
        }),
      )
    : undefined

const present = (members: { readonly [name: string]: Json | undefined }): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject
