/** Messages of openapi.v2. */
import { isJsonObject } from '../api/object.ts'
import {
  allowance,
  any,
  bool,
  double,
  each,
  int64,
  message,
  named,
  operationsOf,
  orReference,
  string,
  strings,
  within,
} from './protobuf-writer.ts'
import type { Message, Write } from './protobuf-writer.ts'

const infoV2: Message = { members: { title: [1, string], version: [2, string] } }

export const schemaV2: Message = {
  members: {
    $ref: [1, string],
    format: [2, string],
    title: [3, string],
    description: [4, string],
    default: [5, any],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, bool],
    minimum: [9, double],
    exclusiveMinimum: [10, bool],
    maxLength: [11, int64],
    minLength: [12, int64],
    pattern: [13, string],
    maxItems: [14, int64],
    minItems: [15, int64],
    uniqueItems: [16, bool],
    maxProperties: [17, int64],
    minProperties: [18, int64],
    required: [19, strings],
    enum: [20, each(any)],
    additionalProperties: [21, allowance(message(() => schemaV2))],
    type: [22, within(1, strings)],
    items: [
      23,
      within(
        1,
        message(() => schemaV2),
      ),
    ],
    allOf: [24, each(message(() => schemaV2))],
    properties: [25, within(1, named(message(() => schemaV2)))],
    example: [30, any],
  },
  extensions: 31,
}

const bodyParameter: Message = {
  members: {
    description: [1, string],
    name: [2, string],
    in: [3, string],
    required: [4, bool],
    schema: [5, message(() => schemaV2)],
  },
}
const queryParameter: Message = {
  members: {
    required: [1, bool],
    in: [2, string],
    description: [3, string],
    name: [4, string],
    type: [6, string],
    format: [7, string],
    uniqueItems: [20, bool],
  },
}
const pathParameter: Message = {
  members: {
    required: [1, bool],
    in: [2, string],
    description: [3, string],
    name: [4, string],
    type: [5, string],
    format: [6, string],
    uniqueItems: [19, bool],
  },
}

export const parameterV2: Write = (bytes, number, value) => {
  const place = isJsonObject(value) ? value['in'] : undefined
  if (place === 'body')
    within(
      1,
      message(() => bodyParameter),
    )(bytes, number, value)
  else if (place === 'query')
    within(
      2,
      within(
        3,
        message(() => queryParameter),
      ),
    )(bytes, number, value)
  else
    within(
      2,
      within(
        4,
        message(() => pathParameter),
      ),
    )(bytes, number, value)
}

const responseV2: Message = {
  members: {
    description: [1, string],
    schema: [
      2,
      within(
        1,
        message(() => schemaV2),
      ),
    ],
  },
  extensions: 5,
}

const operationV2: Message = {
  members: {
    tags: [1, strings],
    description: [3, string],
    operationId: [5, string],
    produces: [6, strings],
    consumes: [7, strings],
    parameters: [8, each(orReference(parameterV2))],
    responses: [9, within(1, named(orReference(message(() => responseV2))))],
    schemes: [10, strings],
  },
  extensions: 13,
}

export const pathItemV2: Message = {
  members: {
    ...operationsOf(operationV2, { get: 2, put: 3, post: 4, delete: 5, options: 6, head: 7, patch: 8 }),
    parameters: [9, each(orReference(parameterV2))],
  },
  extensions: 10,
}

const apiKey: Message = { members: { type: [1, string], name: [2, string], in: [3, string], description: [4, string] } }

export const documentV2: Message = {
  members: {
    swagger: [1, string],
    info: [2, message(() => infoV2)],
    paths: [8, within(2, named(message(() => pathItemV2)))],
    definitions: [9, within(1, named(message(() => schemaV2)))],
    parameters: [10, within(1, named(parameterV2))],
    security: [12, each(within(1, named(within(1, strings))))],
    securityDefinitions: [
      13,
      within(
        1,
        named(
          within(
            2,
            message(() => apiKey),
          ),
        ),
      ),
    ],
  },
}
