import { describe, expect, test } from 'vitest'
import { path } from '../../src/api/field.ts'
import type { Json, JsonObject } from '../../src/api/object.ts'
import { inParts } from '../../src/base/parts.ts'
import { inTurns } from '../../src/base/slices.ts'
import { ruleTreeOf } from '../../src/expressions/rule-tree.ts'
import { validateAtOnce, validateByRules } from '../../src/expressions/validate-rules.ts'

interface Case {
  readonly schema: JsonObject
  readonly old?: Json
  readonly value: Json
  readonly errors?: readonly string[]
  readonly warnings?: readonly string[]
  readonly budget?: number
}

const ruled = (type: JsonObject, ...rules: JsonObject[]): JsonObject => ({ ...type, 'x-kubernetes-validations': rules })
const object = (properties: JsonObject): JsonObject => ({ type: 'object', properties })
const INT: JsonObject = { type: 'integer' }
const TEXT: JsonObject = { type: 'string' }
const keyed = (element: JsonObject): JsonObject => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k'],
  items: element,
})
const NO_SUCH = (rule: string, call = ''): string =>
  `spec: Invalid value: "object": 'no such overload${call}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`
const NO_BUDGET =
  'spec: Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run'

describe('values against the rules of their schema', () => {
  const cases: readonly (readonly [name: string, given: Case])[] = [
    ['a blank rule', { schema: ruled(object({ n: INT }), { rule: ' ' }, {}), value: { n: 2 } }],
    ['a rule that holds', { schema: ruled(object({ n: INT }), { rule: 'self.n > 1' }), value: { n: 2 } }],
    [
      'an object is not shown, a number is',
      {
        schema: ruled(object({ n: ruled(INT, { rule: 'self > 1' }) }), { rule: 'self.n > 1' }),
        value: { n: 1 },
        errors: ['spec: Invalid value: failed rule: self.n > 1', 'spec.n: Invalid value: 1: failed rule: self > 1'],
      },
    ],
    [
      'values of Kubernetes are compared with others of their type alone, and with null',
      {
        schema: ruled(
          object({ o: object({ x: INT }), l: { type: 'array', maxItems: 2, items: INT } }),
          { rule: 'dyn(self.o) == 1' },
          { rule: 'dyn(self.o) == null' },
          { rule: 'dyn(self.l) == self.o' },
          { rule: 'dyn(self.l) != dyn(self.o) && dyn(1) != dyn(self.o)' },
          { rule: "dyn(quantity('1')) == semver('1.2.3')" },
          { rule: "[dyn('a'), dyn(1)].isSorted() && [dyn(2), dyn('a'), dyn(1)].isSorted()" },
          { rule: '[dyn([1])].isSorted()' },
        ),
        value: { o: { x: 1 }, l: [1] },
        errors: [
          NO_SUCH('dyn(self.o) == 1'),
          'spec: Invalid value: failed rule: dyn(self.o) == null',
          NO_SUCH('dyn(self.l) == self.o'),
          NO_SUCH("dyn(quantity('1')) == semver('1.2.3')"),
          NO_SUCH('[dyn([1])].isSorted()', ': isSorted(list)'),
        ],
      },
    ],
    [
      'messages: written, made, and the written one where none can be made',
      {
        schema: ruled(
          object({ n: INT }),
          { rule: 'false', message: ' no ' },
          { rule: 'false', message: 'no', messageExpression: '"n is " + string(self.n)' },
          { rule: 'false', message: 'no', messageExpression: 'string(1 / (self.n - 1))' },
          { rule: 'false', message: 'no', messageExpression: '" "' },
        ),
        value: { n: 1 },
        errors: ['no', 'n is 1', 'no', 'no'].map((text) => `spec: Invalid value: ${text}`),
      },
    ],
    [
      'reasons and places',
      {
        schema: ruled(
          object({
            n: INT,
            m: { type: 'object', additionalProperties: INT },
            any: { type: 'object', additionalProperties: true },
          }),
          { rule: 'false', reason: 'FieldValueForbidden', fieldPath: '.n' },
          { rule: 'false', reason: 'FieldValueRequired', fieldPath: ".m['a.b']" },
          { rule: 'false', fieldPath: '.any.a' },
          { rule: 'false', reason: 'FieldValueDuplicate' },
        ),
        value: {},
        errors: [
          'spec.n: Forbidden: failed rule: false',
          'spec.m[a.b]: Required value: failed rule: false',
          'spec.any[a]: Invalid value: failed rule: false',
          'spec: Duplicate value',
        ],
      },
    ],
    [
      'errors of a rule name it',
      {
        schema: ruled(
          object({ n: INT, x: { 'x-kubernetes-int-or-string': true } }),
          { rule: '1 / self.n == 1' },
          { rule: 'self.x + 1 > 1', message: 'sum' },
        ),
        value: { n: 0, x: 'a' },
        errors: [
          'spec: Invalid value: "object": division by zero evaluating rule: 1 / self.n == 1',
          `spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: sum`,
        ],
      },
    ],
    [
      'null is not validated',
      { schema: object({ n: ruled({ ...INT, nullable: true }, { rule: 'self > 1' }) }), value: { n: null } },
    ],
    [
      'transitions have no say about what is new',
      { schema: object({ n: ruled(INT, { rule: 'self > oldSelf' }) }), old: {}, value: { n: 1 } },
    ],
    [
      'fields, map values and elements with keys have old values',
      {
        schema: object({
          l: keyed(object({ k: TEXT, v: ruled(INT, { rule: 'self > oldSelf' }) })),
          m: { type: 'object', additionalProperties: ruled(INT, { rule: 'self > oldSelf' }) },
        }),
        old: {
          l: [
            { k: 'a', v: 1 },
            { k: 'b', v: 5 },
          ],
          m: { a: 3 },
        },
        value: {
          l: [
            { k: 'b', v: 5 },
            { k: 'c', v: 1 },
            { k: 'a', v: 2 },
          ],
          m: { a: 3, b: 0 },
        },
        errors: [
          'spec.l[0].v: Invalid value: 5: failed rule: self > oldSelf',
          'spec.m[a]: Invalid value: 3: failed rule: self > oldSelf',
        ],
      },
    ],
    [
      'an optional oldSelf is asked in any case',
      {
        schema: object({ n: ruled(INT, { rule: 'oldSelf.orValue(0) < self', optionalOldSelf: true }) }),
        value: { n: 0 },
        errors: ['spec.n: Invalid value: 0: failed rule: oldSelf.orValue(0) < self'],
      },
    ],
    [
      'an optional oldSelf has no schema inside',
      {
        schema: ruled(
          object({
            any: { 'x-kubernetes-preserve-unknown-fields': true },
            'a-b': TEXT,
            set: { type: 'array', maxItems: 3, items: TEXT, 'x-kubernetes-list-type': 'set' },
            map: keyed(object({ k: TEXT, v: INT })),
            day: { type: 'string', format: 'date' },
          }),
          ...[
            'oldSelf.value() == self',
            'self.set == oldSelf.value().set && self.map == oldSelf.value().map',
            'oldSelf.value().set == self.set',
            'oldSelf.value().map == self.map',
            'oldSelf.value().day.getFullYear() == 2024',
            'has(oldSelf.value().a__dash__b)',
          ].map((rule) => ({ rule, optionalOldSelf: true })),
        ),
        old: { any: { x: 1 }, 'a-b': 'a', set: ['a', 'b'], map: [{ k: 'a' }, { k: 'b' }], day: '2024-01-02' },
        value: { any: { x: 1 }, 'a-b': 'a', set: ['b', 'a'], map: [{ k: 'b' }, { k: 'a' }] },
        errors: [
          'oldSelf.value() == self',
          'oldSelf.value().set == self.set',
          'oldSelf.value().map == self.map',
          'oldSelf.value().day.getFullYear() == 2024',
          'has(oldSelf.value().a__dash__b)',
        ].map((rule) =>
          rule.includes('Year') ? NO_SUCH(rule, ': getFullYear(string)') : `spec: Invalid value: failed rule: ${rule}`,
        ),
      },
    ],
    [
      'what did not change warns',
      {
        schema: object({
          n: ruled(INT, { rule: 'self > 1' }),
          l: keyed(object({ k: TEXT, v: ruled(INT, { rule: 'self > 1' }) })),
        }),
        old: { n: 0, l: [{ k: 'a', v: 0 }] },
        value: {
          n: 0,
          l: [
            { k: 'b', v: 0 },
            { k: 'a', v: 0 },
          ],
        },
        errors: ['spec.l[0].v: Invalid value: 0: failed rule: self > 1'],
        warnings: [
          'spec.l[1].v: Invalid value: 0: failed rule: self > 1',
          'spec.n: Invalid value: 0: failed rule: self > 1',
        ],
      },
    ],
    [
      'elements of other lists changed with any of them',
      {
        schema: { type: 'array', items: ruled(INT, { rule: 'self > 1' }) },
        old: [0],
        value: [0, 2],
        errors: ['spec[0]: Invalid value: 0: failed rule: self > 1'],
      },
    ],
    [
      'a rule that breaks is not forgiven',
      {
        schema: object({ n: ruled(INT, { rule: '1 / self > 1' }) }),
        old: { n: 0 },
        value: { n: 0 },
        errors: ['spec.n: Invalid value: "integer": division by zero evaluating rule: 1 / self > 1'],
      },
    ],
    [
      'one rule may not spend more than its limit',
      {
        schema: ruled(
          { type: 'array', items: INT },
          { rule: 'self.all(a, self.all(b, a + b > 0))' },
          { rule: 'false' },
        ),
        value: Array.from({ length: 1000 }, () => 1),
        errors: [
          `spec: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.all(a, self.all(b, a + b > 0))`,
        ],
      },
    ],
    [
      'nor all rules of an object more than the budget',
      {
        schema: ruled({ type: 'array', items: ruled(INT, { rule: 'false' }) }, { rule: 'self.all(a, a > 0)' }),
        value: [1, 2, 3],
        budget: 5,
        errors: [NO_BUDGET],
      },
    ],
  ]

  test.each(cases)('%s', async (_name, { schema, value, old, errors = [], warnings = [], budget }) => {
    const tree = ruleTreeOf(schema, false)!
    const options = {
      at: path('spec'),
      ...(old === undefined ? {} : { old, ratchets: true }),
      ...(budget === undefined ? {} : { budget }),
    }
    const found = validateByRules(tree, value, options)
    const texts = (of: typeof found.errors) => of.map(({ field, message }) => `${field}: ${message}`)
    expect({ errors: texts(found.errors), warnings: texts(found.warnings) }).toEqual({ errors, warnings })
    // wherever it stops
    for (const part of [1, 3, 50]) {
      const fresh = ruleTreeOf(schema, false)!
      const inTheEnd = await inTurns(
        inParts(() => validateByRules(fresh, value, options), part),
        async () => {},
      )
      expect(inTheEnd).toEqual(found)
    }
    expect(validateAtOnce(tree, value, options) ?? found).toEqual(found)
  })

  test('dear rules are done in parts, with the same outcome', async () => {
    const list = { type: 'array', items: ruled(INT, { rule: 'self >= 0' }) }
    const dear = { rule: 'self.all(a, self.all(b, a + b < 350))', messageExpression: '"sums: " + string(self.size())' }
    const tree = ruleTreeOf(ruled(list, dear), false)!
    const value = Array.from({ length: 200 }, (_, at) => at)
    expect(validateAtOnce(tree, value)).toBeUndefined()
    let turns = 0
    const found = await inTurns(
      inParts(() => validateByRules(tree, value)),
      async () => void turns++,
    )
    expect(found).toEqual(validateByRules(tree, value))
    expect(found.errors).toMatchObject([{ message: expect.stringContaining('sums: 200') as string }])
    expect(turns).toBeGreaterThan(0)
  })

  test('the root of an object has its names, whatever its schema says of its metadata', () => {
    const tree = ruleTreeOf(ruled(object({}), { rule: 'self.metadata.name == "a"' }), true)!
    const of = (name: string) => validateByRules(tree, { apiVersion: 'v1', kind: 'T', metadata: { name } }).errors
    expect(of('a')).toEqual([])
    expect(of('b')).toMatchObject([{ field: '<nil>' }])
  })

  test('a schema without rules has no tree', () => expect(ruleTreeOf(object({ n: INT }), true)).toBeUndefined())
})
