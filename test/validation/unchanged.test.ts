/** Answers of kube-apiserver 1.36.3 to updates of objects that a later schema refuses. */
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/api/object.ts'
import { validateValue } from '../../src/validation/value-validation.ts'

const text: JsonObject = { type: 'string' }
const open: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: text } }
const strict: JsonObject = { ...open, minProperties: 5 }
const listOf = (items: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'array', items, ...more })
const byKey = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }
const keyed: JsonObject = { ...open, properties: { k: text, a: text }, required: ['k'] }
const short: JsonObject = {
  type: 'object',
  properties: { k: text, v: { type: 'string', maxLength: 2 } },
  required: ['k'],
}

test.each<[string, JsonObject, Json, Json, string[]]>([
  ['declared members', strict, { a: '1' }, { a: '1' }, []],
  ['an undeclared member', strict, { a: '1', u: 'x' }, { a: '1', u: 'x' }, ['spec']],
  [
    'an undeclared member, and a member that is refused',
    { ...strict, properties: { a: { ...text, maxLength: 1 } } },
    { a: '11', u: 'x' },
    { a: '11', u: 'x' },
    ['spec'],
  ],
  ['members by any name', { additionalProperties: text, minProperties: 5 }, { q: '1' }, { q: '1' }, []],
  [
    'undeclared members below them',
    { type: 'object', additionalProperties: strict },
    { q: { a: '1', u: 'x' }, r: { a: '2' } },
    { q: { a: '1', u: 'x' }, r: { a: '2' } },
    ['spec.q'],
  ],
  [
    'null',
    { type: 'object', properties: { a: { ...text, nullable: true } }, minProperties: 5 },
    { a: null },
    { a: null },
    [],
  ],
  ['items without keys as a whole', listOf(open, { minItems: 5 }), [{ u: 'x' }], [{ u: 'x' }], []],
  ['items with keys', listOf(keyed, { ...byKey, minItems: 5 }), [{ k: '1', a: 'x' }], [{ k: '1', a: 'x' }], []],
  [
    'items with keys in another order',
    listOf(keyed, { ...byKey, minItems: 5 }),
    [{ k: '1', a: 'x' }, { k: '2' }],
    [{ k: '2' }, { k: '1', a: 'x' }],
    [],
  ],
  ['items in another order', listOf({ type: 'integer' }, { minItems: 5 }), [1, 2], [2, 1], ['spec']],
  [
    'an undeclared member of an item',
    listOf(keyed, { ...byKey, minItems: 5 }),
    [{ k: '1', u: 'x' }],
    [{ k: '1', u: 'x' }],
    ['spec'],
  ],
  [
    'items that lack their key',
    listOf(short, byKey),
    [{ v: 'long' }, { k: 'a', v: 'long' }],
    [{ v: 'long' }, { k: 'a', v: 'long' }],
    ['spec[0].v', 'spec[0].k'],
  ],
  [
    'items that share their key',
    listOf(short, byKey),
    [
      { k: 'a', v: 'long' },
      { k: 'a', v: 'long' },
    ],
    [
      { k: 'a', v: 'long' },
      { k: 'a', v: 'long' },
    ],
    [],
  ],
])('%s', (_, schema, value, old, refused) => {
  const whole = { type: 'object', properties: { spec: schema } }
  const errors = validateValue(whole, { spec: value }, undefined, { value: { spec: old }, isWritten: true })
  expect(errors.map(({ field }) => field)).toEqual(refused)
})
