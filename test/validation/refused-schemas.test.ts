// kube-apiserver prints refused schemas in the form of its internal types, whose unions have both members.
import { expect, test } from 'vitest'
import { internalSchema } from '../../src/validation/apiextensions/internal-form.ts'

test.each([
  ['Items', { items: { type: 'string' } }, { Schema: { Type: 'string' }, JSONSchemas: null }],
  ['Items', { items: [{ type: 'string' }] }, { Schema: null, JSONSchemas: [{ Type: 'string' }] }],
  ['AdditionalItems', { additionalItems: false }, { Allows: false, Schema: null }],
  ['AdditionalProperties', { additionalProperties: { type: 'string' } }, { Allows: true, Schema: { Type: 'string' } }],
  ['Dependencies', { dependencies: { a: ['b'] } }, { a: { Schema: null, Property: ['b'] } }],
  ['Dependencies', { dependencies: { a: { type: 'string' } } }, { a: { Schema: { Type: 'string' }, Property: null } }],
])('%s of %j', (name, schema, printed) => {
  expect(internalSchema(schema)).toMatchObject({ [name]: printed })
})
