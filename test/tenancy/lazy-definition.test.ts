import { afterEach, expect, test, vi } from 'vitest'
import type { CustomResourceDefinition } from '../../src/api/apiextensions/v1.ts'
import { PackedText } from '../../src/base/packed-text.ts'
import { lazyDefinition } from '../../src/tenancy/lazy-definition.ts'

const definition = (name: string, description = 'a thing') => ({
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name, managedFields: [{ manager: 'kubectl' }] },
  spec: {
    group: 'example.com',
    versions: [
      { name: 'v1', served: true, schema: { openAPIV3Schema: { type: 'object', description } }, storage: true },
      { name: 'v2', served: true, storage: false },
    ],
  },
})
const lazy = (value: object): CustomResourceDefinition => lazyDefinition(new PackedText(JSON.stringify(value)))

afterEach(() => {
  vi.restoreAllMocks()
})

test('it reads as the definition that it is made of, member for member', () => {
  const value = definition('a')
  expect(JSON.stringify(lazy(value))).toBe(JSON.stringify(value))
  expect(structuredClone(lazy(value))).toEqual(value)
})

test('a schema is parsed when it is asked for, and once', () => {
  const value = definition('b')
  const text = JSON.stringify(value)
  const parse = vi.spyOn(JSON, 'parse')
  const made: CustomResourceDefinition = lazyDefinition(new PackedText(text))
  expect(made.spec?.versions?.map(({ name }) => name)).toEqual(['v1', 'v2'])
  expect(parse).toHaveBeenCalledTimes(1)
  const schema = made.spec?.versions?.[0]?.schema
  expect(schema).toEqual(value.spec.versions[0]!.schema)
  expect(made.spec?.versions?.[0]?.schema).toBe(schema)
  expect(parse).toHaveBeenCalledTimes(2)
})

test('of many the schemas that were used last are kept, within a bound', () => {
  const large = Array.from({ length: 8 }, (_, n) => lazy(definition(`c${n}`, 'x'.repeat(500_000))))
  const use = (n: number) => large[n]!.spec?.versions?.[0]?.schema
  for (let n = 0; n < 8; n++) use(n)
  const parse = vi.spyOn(JSON, 'parse')
  use(7)
  expect(parse).toHaveBeenCalledTimes(0)
  expect(use(0)).toEqual(definition('c0', 'x'.repeat(500_000)).spec.versions[0]!.schema)
  expect(parse).toHaveBeenCalledTimes(1)
})
