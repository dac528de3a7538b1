/**
 * Paths in OpenAPI v2, with keys in the order of kube-apiserver. Parameters that do not depend on a kind are shared
 * by reference.
 */
import { BoundedMap } from '../base/bounded-map.ts'
import type { GroupVersionKind } from '../api/group-version.ts'
import type { JsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { referenceTo } from '../schema/to-openapi.ts'
import type { Operation, Parameter, PathItem } from './operation.ts'
import { methods, sharedParameters } from './operation.ts'
import { statusTexts } from './render-v3.ts'

/** The paths, and the shared parameters by name. */
export function pathsV2(items: readonly PathItem[]): { paths: JsonObject; parameters: JsonObject } {
  const parameters = new Map<string, JsonObject>()
  const share = (parameter: JsonObject): JsonObject => {
    if (!isShared(parameter)) return parameter
    const json = JSON.stringify(parameter)
    const name = `${String(parameter['name'])}-${hashes.getOrMake(json, () => hashOf(json))}`
    parameters.set(name, parameter)
    return { $ref: `#/parameters/${name}` }
  }
  const paths = Object.fromEntries(
    [...items]
      .sort((a, b) => (a.path < b.path ? -1 : 1))
      .map(({ path, operations }) => {
        const { shared, own } = sharedParameters(operations)
        const item: JsonObject = {}
        for (const method of methods) {
          // few: one for each method
          const operation = operations.find((one) => one.method === method)
          if (operation !== undefined) item[method] = operationV2(operation, own(operation), share)
        }
        if (shared.length > 0) item['parameters'] = shared.map((parameter) => share(parameterV2(parameter)))
        return [path, item]
      }),
  )
  return { paths, parameters: Object.fromEntries([...parameters].sort(([a], [b]) => (a < b ? -1 : 1))) }
}

function operationV2(
  operation: Operation,
  own: readonly Parameter[],
  share: (parameter: JsonObject) => JsonObject,
): JsonObject {
  const { body, kind } = operation
  const bodies: JsonObject[] =
    body === undefined
      ? []
      : [
          {
            name: 'body',
            in: 'body',
            ...(body.required ? { required: true } : {}),
            schema: referenceTo(body.model, 'v2'),
          },
        ]
  const parameters = [...bodies, ...own.map(parameterV2)].sort((a, b) =>
    String(a['name']) < String(b['name']) ? -1 : String(a['name']) > String(b['name']) ? 1 : 0,
  )
  return {
    description: operation.description,
    ...(operation.consumes === undefined ? {} : { consumes: [...operation.consumes] }),
    produces: [...operation.produces],
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.operationId,
    ...(parameters.length === 0 ? {} : { parameters: parameters.map(share) }),
    responses: Object.fromEntries(
      operation.responses.map(({ code, model }) => [
        code,
        {
          description: statusTexts[code],
          ...(code === 401 ? {} : { schema: model === undefined ? { type: 'string' } : referenceTo(model, 'v2') }),
        },
      ]),
    ),
    ...(operation.action === undefined ? {} : { 'x-kubernetes-action': operation.action }),
    ...(kind === undefined ? {} : { 'x-kubernetes-group-version-kind': kindV2(kind) }),
  }
}

/** kube-aggregator adds its own group to the document as it is, and all others through a map, which sorts the keys. */
const kindV2 = ({ group, version, kind }: GroupVersionKind): JsonObject =>
  group === 'apiregistration.k8s.io' ? { group, version, kind } : { group, kind, version }

const parameterV2 = (parameter: Parameter): JsonObject => ({
  uniqueItems: true,
  type: parameter.type,
  description: parameter.description,
  name: parameter.name,
  in: parameter.in,
  ...(parameter.in === 'path' ? { required: true } : {}),
})

/**
 * Parameters that name their kind, or that old kubectl versions need inline, are not shared (kube-openapi's
 * builder/parameters.go).
 */
function isShared(parameter: JsonObject): boolean {
  const name = String(parameter['name'])
  if (name === 'name' || name === 'fieldValidation' || name === 'dryRun') return false
  const schema = parameter['schema'] as JsonObject | undefined // only body parameters have a schema, which was made above
  return schema === undefined || String(schema['$ref']).startsWith('#/definitions/io.k8s.apimachinery')
}

/** Hashes by the JSON of a parameter: all resources share a few dozen. */
const hashes = new BoundedMap<string, string>({ entries: 1_000 })

/** FNV-1 (64 bits) of the JSON as Go writes it, its first six bytes in base64url. */
function hashOf(json: string): string {
  const escaped = json.replace(/[<>&]/g, (character) => ownValue(goEscapes, character)!)
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(escaped)) hash = BigInt.asUintN(64, hash * 0x100000001b3n) ^ BigInt(byte)
  const bytes = Array.from({ length: 6 }, (_, at) => Number((hash >> BigInt(56 - 8 * at)) & 0xffn))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}

const goEscapes: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' }
