import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JSONSchemaProps } from '../../../src/api/apiextensions/v1.ts'
import { inParts } from '../../../src/base/parts.ts'
import { atOnce, inTurns } from '../../../src/base/slices.ts'
import { findSchema, schemasBelow, someSchema } from '../../../src/registry/apiextensions/schemas-below.ts'

const title = fc.string({ maxLength: 3 })

// a subset of the keywords
const schemas = fc.letrec<{ schema: JSONSchemaProps }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.record({ title }),
    fc.record(
      {
        title,
        items: tie('schema'),
        not: tie('schema'),
        allOf: fc.array(tie('schema'), { maxLength: 2 }),
        properties: fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor'), tie('schema')),
        additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
      },
      { requiredKeys: ['title'] },
    ),
  ) as fc.Arbitrary<JSONSchemaProps>,
})).schema

/** The order in which a plain recursion visits the schemas. */
const all = (schema: JSONSchemaProps): JSONSchemaProps[] => [schema, ...schemasBelow(schema).flatMap(all)]

test('finds the first schema of a recursion from the root down', () =>
  fc.assert(
    fc.property(schemas, fc.string({ maxLength: 1 }), (root, wanted) => {
      const isWanted = ({ title = '' }: JSONSchemaProps): boolean => title.startsWith(wanted) && title !== ''
      expect(findSchema(root, isWanted)).toBe(all(root).find(isWanted))
      expect(someSchema(root, isWanted)).toBe(all(root).some(isWanted))
    }),
  ))

test('visits each of very many schemas once, in many steps, with the same result', async () => {
  const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`p${at}`, { title: `t${at}` }]))
  const root: JSONSchemaProps = { properties }
  const visited = new Map<JSONSchemaProps, number>()
  const walk = (): JSONSchemaProps | undefined =>
    findSchema(root, (schema) => {
      visited.set(schema, (visited.get(schema) ?? 0) + 1)
      return schema.title === 't19999'
    })
  let turns = 0
  expect(await inTurns(inParts(walk), async () => void turns++)).toBe(properties['p19999'])
  expect(turns).toBeGreaterThan(3)
  expect(visited.size).toBe(20_001)
  expect([...visited.values()].every((times) => times === 1)).toBe(true)
  expect(atOnce(inParts(walk))).toBe(properties['p19999'])
})
