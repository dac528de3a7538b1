/**
 * Paths and documents in OpenAPI v3. The keys have the order of kube-apiserver, because the ETag is a hash of the
 * text.
 */
import type { Json, JsonObject } from '../api/object.ts'
import { referenceTo } from '../schema/to-openapi.ts'
import type { Operation, Parameter, PathItem } from './operation.ts'
import { methods, sharedParameters } from './operation.ts'

export const statusTexts = { 200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized' } as const

export function pathsV3(items: readonly PathItem[]): JsonObject {
  return Object.fromEntries(
    [...items]
      .sort((a, b) => (a.path < b.path ? -1 : 1))
      .map(({ path, operations }) => {
        const { shared, own } = sharedParameters(operations)
        const item: JsonObject = {}
        for (const method of methods) {
          // few: one for each method
          const operation = operations.find((one) => one.method === method)
          if (operation !== undefined) item[method] = operationV3(operation, own(operation))
        }
        if (shared.length > 0) item['parameters'] = shared.map(parameterV3)
        return [path, item]
      }),
  )
}

function operationV3(operation: Operation, parameters: readonly Parameter[]): JsonObject {
  const { body, kind } = operation
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.operationId,
    ...(parameters.length === 0 ? {} : { parameters: parameters.map(parameterV3) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: contentOf(operation.consumes ?? [], referenceTo(body.model, 'v3')),
            ...(body.required ? { required: true } : {}),
          },
        }),
    responses: Object.fromEntries(
      operation.responses.map(({ code, model }) => [
        code,
        {
          description: statusTexts[code],
          ...(code === 401
            ? {}
            : {
                content: contentOf(
                  operation.produces,
                  model === undefined ? { type: 'string' } : referenceTo(model, 'v3'),
                ),
              }),
        },
      ]),
    ),
    ...(operation.action === undefined ? {} : { 'x-kubernetes-action': operation.action }),
    ...(kind === undefined
      ? {}
      : { 'x-kubernetes-group-version-kind': { group: kind.group, version: kind.version, kind: kind.kind } }),
  }
}

const contentOf = (mediaTypes: readonly string[], schema: Json): JsonObject =>
  Object.fromEntries([...mediaTypes].sort().map((mediaType) => [mediaType, { schema }]))

const parameterV3 = (parameter: Parameter): JsonObject => ({
  name: parameter.name,
  in: parameter.in,
  description: parameter.description,
  ...(parameter.in === 'path' ? { required: true } : {}),
  schema: { type: parameter.type, uniqueItems: true },
})
