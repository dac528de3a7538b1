import { expect, test } from 'vitest'
import { FieldPath } from '../../src/api/field.ts'
import type { JsonObject } from '../../src/api/object.ts'
import { applyStructuralDefaults } from '../../src/schema/structural-default.ts'
import { customKindType } from '../../src/schema/from-openapi.ts'
import { validateLists } from '../../src/validation/list-validation.ts'

const gvk = { group: 'example.com', version: 'v1', kind: 'Thing' }
const set = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } }
const type = customKindType('com.example.v1.Thing', gvk, {
  type: 'object',
  properties: { names: set, size: { type: 'integer', default: 1 } },
})

test('the schema of a custom resource says nothing about the lists and defaults of its metadata', () => {
  const thing: JsonObject = {
    metadata: { finalizers: ['a', 'a'], ownerReferences: [{ uid: '1' }, { uid: '1' }] },
    names: ['a', 'b', 'a'],
  }
  const errors = validateLists(type, thing, FieldPath.root)
  expect(errors.map(({ field, message }) => [field, message])).toEqual([['names[2]', 'Duplicate value: "a"']])
  const before = structuredClone(thing)
  applyStructuralDefaults(type, thing)
  expect(thing).toEqual({ ...before, size: 1 })
})
