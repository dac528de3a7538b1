import { expect, test } from 'vitest'
import { cutDefinition } from '../../src/tenancy/definition-cuts.ts'
import chance from '../chance.ts'

const cutOf = (value: unknown) => {
  const text = JSON.stringify(value)
  const { rest, managedFields, schemas } = cutDefinition(text)
  const read = ({ begin, length }: { begin: number; length: number }): unknown =>
    JSON.parse(text.slice(begin, begin + length))
  return {
    rest: JSON.parse(rest) as unknown,
    managedFields: managedFields && read(managedFields),
    schemas: [...schemas].map(([at, cut]) => [at, read(cut)]),
  }
}

test('any schemas and managedFields are cut, and nothing else', () =>
  chance.assert(
    chance.property(
      chance.jsonValue(),
      chance.array(chance.record({ before: chance.jsonValue(), schema: chance.jsonValue() })),
      chance.jsonValue(),
      (managedFields, versions, other) => {
        const definition = (without: boolean) => ({
          kind: other,
          metadata: {
            schema: other,
            name: 'a',
            managedFields: without ? null : managedFields,
            labels: { versions: '"' },
          },
          spec: {
            schema: other,
            versions: versions.map(({ before, schema }) => ({
              name: before,
              schema: without ? null : schema,
              managedFields: 1,
            })),
            conversion: [other],
          },
          status: { versions: [{ schema: other }] },
        })
        expect(cutOf(definition(false))).toEqual({
          rest: JSON.parse(JSON.stringify(definition(true))) as unknown,
          managedFields: JSON.parse(JSON.stringify(managedFields)) as unknown,
          schemas: versions.map(({ schema }, at) => [at, JSON.parse(JSON.stringify(schema)) as unknown]),
        })
      },
    ),
  ))

test('the text of a schema tells how many of its characters are rules, and of defaults', () => {
  const rules = [{ rule: 'has(self.a) && self["}"] == "\\""' }, { rule: 'true' }]
  const schema = {
    openAPIV3Schema: {
      description: '"x-kubernetes-validations":[1]',
      'x-kubernetes-validations': rules,
      properties: { a: {} },
    },
  }
  const facts = (of: object) => cutDefinition(JSON.stringify({ spec: { versions: [{ schema: of }] } })).schemas.get(0)
  expect(facts(schema)).toMatchObject({ rules: JSON.stringify(rules).length, hasDefaults: false, hasEmbedded: false })
  expect(facts({ openAPIV3Schema: { properties: { a: { default: 1 } } } })).toMatchObject({
    rules: 0,
    hasDefaults: true,
  })
  expect(facts({ openAPIV3Schema: { 'x-kubernetes-embedded-resource': true } })).toMatchObject({ hasEmbedded: true })
})
