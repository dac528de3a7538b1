import { expect, test } from 'vitest'
import type { CustomResourceDefinition } from '../../../src/api/apiextensions/v1.ts'
import type { FieldError } from '../../../src/api/field.ts'
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import { customStrategy } from '../../../src/registry/custom-resources/strategy.ts'
import type { StrategyContext } from '../../../src/registry/strategy.ts'
import { customKindType } from '../../../src/schema/from-openapi.ts'

const schema: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        n: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1' }] },
        s: { type: 'string', maxLength: 2, pattern: '^[a-z]*$' },
      },
    },
    status: { type: 'object', properties: { n: { type: 'integer' } } },
  },
  'x-kubernetes-validations': [{ rule: '!has(self.status) || self.status.n <= self.spec.n' }],
}
const definition: CustomResourceDefinition = {
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    names: { kind: 'Thing' },
    versions: [{ name: 'v1', subresources: { status: {} } }],
  },
  status: { acceptedNames: { kind: 'Thing' } },
}
const type = customKindType('Thing', { group: 'example.com', version: 'v1', kind: 'Thing' }, schema)
const strategy = customStrategy(definition, 'v1', type, schema, true)

const thing = (spec: JsonObject, status?: JsonObject): KubeObject =>
  ({
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'a' },
    spec,
    ...(status && { status }),
  }) as KubeObject

const HELD = '!has(self.status) || self.status.n <= self.spec.n'
const NOT_CHECKED =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

interface Write {
  readonly object: KubeObject
  readonly old?: KubeObject
  readonly subresource?: 'status'
}

async function write({ object, old, subresource }: Write): Promise<{ errors: string[]; warnings: string[] }> {
  const warnings: string[] = []
  // the rules use only `warn`
  const context = { warn: (text: string) => void warnings.push(text) } as StrategyContext
  const update = subresource === undefined ? strategy : strategy.subresources![subresource]!
  const errors: readonly FieldError[] =
    old === undefined ? await strategy.validate!(object, context) : await update.validateUpdate!(object, old, context)
  return { errors: errors.map(({ field, message }) => `${field}: ${message}`), warnings }
}

test.each<[string, Write, string[], string[]]>([
  ['an object that holds its rules', { object: thing({ n: 2 }) }, [], []],
  ['a new one', { object: thing({ n: 0 }) }, ['spec.n: Invalid value: 0: failed rule: self > 1'], []],
  [
    'other problems come first',
    { object: thing({ n: 0, s: 'A' }) },
    [
      `spec.s: Invalid value: "A": spec.s in body should match '^[a-z]*$'`,
      'spec.n: Invalid value: 0: failed rule: self > 1',
    ],
    [],
  ],
  [
    'after a wrong type or size rules are not run',
    { object: thing({ n: 0, s: 'long' }) },
    ['spec.s: Too long: may not be more than 2 bytes', NOT_CHECKED],
    [],
  ],
  [
    'nor are they without a name',
    { object: { ...thing({ n: 0 }), metadata: {} } },
    ['metadata.name: Required value: name or generateName is required', NOT_CHECKED],
    [],
  ],
  [
    'a wrong owner keeps no rule from being run',
    { object: { ...thing({ n: 0 }), metadata: { name: 'a', ownerReferences: [{ kind: 'A', name: 'b', uid: 'c' }] } } },
    [
      'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      'spec.n: Invalid value: 0: failed rule: self > 1',
    ],
    [],
  ],
  [
    'a change beside what was wrong before',
    { object: thing({ n: 0, s: 'b' }), old: thing({ n: 0, s: 'a' }) },
    [],
    ['spec.n: Invalid value: 0: failed rule: self > 1'],
  ],
  [
    'a status is held to the rules of the whole object',
    { object: thing({ n: 2 }, { n: 3 }), old: thing({ n: 2 }), subresource: 'status' },
    [`<nil>: Invalid value: failed rule: ${HELD}`],
    [],
  ],
])('%s', async (_name, given, errors, warnings) => {
  expect(await write(given)).toEqual({ errors, warnings })
})

test('what an unchanged object lacks as a whole is reported, and what its parts have got wrong is not', async () => {
  const stricter: JsonObject = {
    type: 'object',
    required: ['colour'],
    properties: {
      apiVersion: { type: 'string', pattern: '^example.com/v2$' },
      spec: { type: 'object', required: ['m'], properties: { s: { type: 'string', maxLength: 1 } } },
    },
  }
  const after = customStrategy(definition, 'v1', type, stricter, false)
  const object = thing({ s: 'long' })
  const context = { warn: () => {} } as unknown as StrategyContext // nothing else is used
  const errors = await after.validateUpdate!(object, structuredClone(object), context)
  expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([
    `apiVersion: Invalid value: "example.com/v1": apiVersion in body should match '^example.com/v2$'`,
    'colour: Required value',
  ])
})
