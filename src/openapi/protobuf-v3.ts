/** Messages of openapi.v3. */
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

const infoV3: Message = { members: { title: [1, string], version: [6, string] } }

/**
 * A number, boolean or string, also where it is zero. For an object or a list the message is empty, since it has no
 * field for them.
 */
const defaultV3: Write = (bytes, number, value) =>
  bytes.message(number, (nested) => {
    if (typeof value === 'number') nested.doubleField(1, value)
    else if (typeof value === 'boolean') nested.boolField(2, value)
    else if (typeof value === 'string') nested.text(3, value)
  })

const schemaOrReference = orReference(message(() => schemaV3))

const schemaV3: Message = {
  members: {
    nullable: [1, bool],
    example: [7, any],
    title: [9, string],
    multipleOf: [10, double],
    maximum: [11, double],
    exclusiveMaximum: [12, bool],
    minimum: [13, double],
    exclusiveMinimum: [14, bool],
    maxLength: [15, int64],
    minLength: [16, int64],
    pattern: [17, string],
    maxItems: [18, int64],
    minItems: [19, int64],
    uniqueItems: [20, bool],
    maxProperties: [21, int64],
    minProperties: [22, int64],
    required: [23, strings],
    enum: [24, each(any)],
    type: [25, string],
    allOf: [26, each(schemaOrReference)],
    oneOf: [27, each(schemaOrReference)],
    anyOf: [28, each(schemaOrReference)],
    not: [29, message(() => schemaV3)],
    items: [30, within(1, schemaOrReference)],
    properties: [31, within(1, named(schemaOrReference))],
    additionalProperties: [32, allowance(schemaOrReference)],
    default: [33, defaultV3],
    description: [34, string],
    format: [35, string],
  },
  extensions: 36,
}

const mediaTypes: Write = within(1, named(message((): Message => ({ members: { schema: [1, schemaOrReference] } }))))

const parameterV3: Message = {
  members: {
    name: [1, string],
    in: [2, string],
    description: [3, string],
    required: [4, bool],
    schema: [10, schemaOrReference],
  },
}
const requestBody: Message = { members: { description: [1, string], content: [2, mediaTypes], required: [3, bool] } }
const responseV3: Message = { members: { description: [1, string], content: [3, mediaTypes] } }

const operationV3: Message = {
  members: {
    tags: [1, strings],
    description: [3, string],
    operationId: [5, string],
    parameters: [6, each(orReference(message(() => parameterV3)))],
    requestBody: [7, orReference(message(() => requestBody))],
    responses: [8, within(2, named(orReference(message(() => responseV3))))],
  },
  extensions: 13,
}

const pathItemV3: Message = {
  members: {
    ...operationsOf(operationV3, { get: 4, put: 5, post: 6, delete: 7, options: 8, head: 9, patch: 10 }),
    parameters: [13, each(orReference(message(() => parameterV3)))],
  },
  extensions: 14,
}

const securityScheme: Message = {
  members: { type: [1, string], description: [2, string], name: [3, string], in: [4, string] },
}

const components: Message = {
  members: {
    schemas: [1, within(1, named(schemaOrReference))],
    securitySchemes: [7, within(1, named(orReference(message(() => securityScheme))))],
  },
}

export const documentV3: Message = {
  members: {
    openapi: [1, string],
    info: [2, message(() => infoV3)],
    paths: [4, within(1, named(message(() => pathItemV3)))],
    components: [5, message(() => components)],
  },
}
