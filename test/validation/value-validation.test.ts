import { beforeAll, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/api/object.ts'
import { loadPatterns } from '../../src/validation/go-pattern.ts'
import { validateValue } from '../../src/validation/value-validation.ts'

beforeAll(loadPatterns)

const texts = (schema: JsonObject, value: Json, before?: Json) =>
  validateValue(schema, value, undefined, before === undefined ? undefined : { value: before }).map(
    ({ type, field, message }) => `${type} ${field}: ${message}`,
  )

const spec = (schema: JsonObject): JsonObject => ({ type: 'object', properties: { a: schema } })

test.each<[string, JsonObject, Json, string[]]>([
  ['fits', { type: 'string' }, 'x', []],
  [
    'type',
    { type: 'integer' },
    'x',
    ['FieldValueTypeInvalid a: Invalid value: "string": a in body must be of type integer: "string"'],
  ],
  [
    'null',
    { type: 'string' },
    null,
    ['FieldValueTypeInvalid a: Invalid value: "null": a in body must be of type string: "null"'],
  ],
  ['nullable', { type: 'string', nullable: true }, null, []],
  [
    'int or string',
    { 'x-kubernetes-int-or-string': true },
    1.5,
    ['FieldValueTypeInvalid a: Invalid value: "number": a in body must be of type integer,string: "number"'],
  ],
  ['longest', { type: 'string', maxLength: 2 }, 'abc', ['FieldValueTooLong a: Too long: may not be more than 2 bytes']],
  [
    'shortest',
    { type: 'string', minLength: 2 },
    'a',
    ['FieldValueInvalid a: Invalid value: "a": a in body should be at least 2 chars long'],
  ],
  [
    'pattern',
    { type: 'string', pattern: '^b' },
    'a',
    ['FieldValueInvalid a: Invalid value: "a": a in body should match \'^b\''],
  ],
  [
    'format',
    { type: 'string', format: 'ipv4' },
    'a',
    ['FieldValueTypeInvalid a: Invalid value: "a": a in body must be of type ipv4: "a"'],
  ],
  ['unknown format', { type: 'string', format: 'nope' }, 'a', []],
  [
    'enum',
    { type: 'string', enum: ['x', 'y'] },
    'a',
    ['FieldValueNotSupported a: Unsupported value: "a": supported values: "x", "y"'],
  ],
  [
    'enum of texts, and an object',
    { enum: ['x'] },
    { b: 1, a: [{ d: '<', c: 1 }] },
    ['FieldValueNotSupported a: Unsupported value: {"a":[{"c":1,"d":"\\u003c"}],"b":1}: supported values: "x"'],
  ],
  [
    'minimum',
    { type: 'integer', minimum: 3 },
    2,
    ['FieldValueInvalid a: Invalid value: 2: a in body should be greater than or equal to 3'],
  ],
  [
    'maximum of a float',
    { type: 'number', maximum: 1e21, exclusiveMaximum: true },
    1e22,
    ['FieldValueInvalid a: Invalid value: 1e+22: a in body should be less than 1e+21'],
  ],
  [
    'a fraction as maximum of an integer',
    { type: 'integer', maximum: -0.5 },
    2147483648,
    [
      'FieldValueInvalid <nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in a',
      'FieldValueInvalid a: Invalid value: 2.147483648e+09: a in body should be less than or equal to -0.5',
    ],
  ],
  [
    'a fraction as exclusive minimum of an integer that is above it',
    { type: 'integer', minimum: 1e-7, exclusiveMinimum: true },
    1,
    [
      'FieldValueInvalid <nil>: Invalid value: "": Minimum boundary value must be of type integer (default format) in a',
    ],
  ],
  [
    'a minimum beyond int64',
    { type: 'integer', minimum: 1e20 },
    5,
    [
      'FieldValueInvalid <nil>: Invalid value: "": Minimum boundary value must be of type integer (default format) in a',
      'FieldValueInvalid a: Invalid value: 5: a in body should be greater than or equal to 1e+20',
    ],
  ],
  [
    'the least int64 as minimum',
    { type: 'integer', minimum: -9223372036854775808n },
    0,
    [
      'FieldValueInvalid <nil>: Invalid value: "": Minimum boundary value must be of type integer (default format) in a',
    ],
  ],
  [
    'a maximum beyond int64 for an integer among other types',
    { 'x-kubernetes-int-or-string': true, maximum: 1e20 },
    5,
    ['FieldValueInvalid a: Invalid value: 5: a in body should be less than or equal to -9223372036854775808'],
  ],
  ['a maximum that no float64 below 2^53 has', { type: 'integer', maximum: 9007199254740992n }, 5, []],
  [
    'beyond a maximum that no float64 below 2^53 has',
    { type: 'integer', maximum: 9007199254740992n },
    9007199254740994n,
    [
      'FieldValueInvalid a: Invalid value: 9007199254740994: a in body should be less than or equal to 9007199254740992',
    ],
  ],
  [
    'a fraction in the factor of an integer',
    { type: 'integer', multipleOf: 1.5 },
    4,
    [
      'FieldValueInvalid <nil>: Invalid value: "": MultipleOf value must be of type integer (default format) in a',
      'FieldValueInvalid a: Invalid value: 4: a in body should be a multiple of 1.5',
    ],
  ],
  [
    'a large factor',
    { type: 'integer', multipleOf: 100000000 },
    1,
    ['FieldValueInvalid a: Invalid value: 1: a in body should be a multiple of 100000000'],
  ],
  [
    'nearly an integer',
    { type: 'integer' },
    1.0000000000001,
    ['FieldValueInvalid <nil>: Invalid value: "": Checked value must be of type integer (default format) in a'],
  ],
  [
    'multiple',
    { type: 'integer', multipleOf: 3 },
    4,
    ['FieldValueInvalid a: Invalid value: 4: a in body should be a multiple of 3'],
  ],
  [
    'int32',
    { type: 'integer', format: 'int32' },
    2147483648,
    ['FieldValueInvalid <nil>: Invalid value: "": Checked value must be of type integer with format int32 in a'],
  ],
  [
    'items',
    { type: 'array', maxItems: 1, items: { type: 'string' } },
    ['x', 1],
    [
      'FieldValueTypeInvalid a[1]: Invalid value: "integer": a[1] in body must be of type string: "integer"',
      'FieldValueTooMany a: Too many: 2: must have at most 1 item',
    ],
  ],
  ['required', { type: 'object', required: ['b'] }, {}, ['FieldValueRequired a.b: Required value']],
  [
    'one of',
    { oneOf: [{ required: ['x'] }, { required: ['y'] }] },
    { x: 1, y: 1 },
    [
      'FieldValueInvalid <nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  ],
  [
    'not',
    { not: { required: ['x'] } },
    { x: 1 },
    ['FieldValueInvalid <nil>: Invalid value: "": "a" must not validate the schema (not)'],
  ],
])('%s', (_name, schema, value, expected) => {
  expect(texts(spec(schema), { a: value })).toEqual(expected)
})

test('what is wrong and does not change may stay in an update', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: { a: { type: 'string', maxLength: 1 }, b: { type: 'string', maxLength: 1 } },
  }
  expect(texts(schema, { a: 'long', b: 'new' }, { a: 'long', b: 'x' })).toEqual([
    'FieldValueTooLong b: Too long: may not be more than 1 byte',
  ])
})
