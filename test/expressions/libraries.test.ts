import { describe, expect, test } from 'vitest'
import { compile } from '../../src/cel/compile.ts'
import { toText } from '../../src/cel/values/conversions.ts'
import { estimateCost, MAX_COST } from '../../src/cel/estimate.ts'
import { asDouble, valueOfJson } from '../../src/cel/values/json-value.ts'
import { programOf } from '../../src/cel/evaluation/program.ts'
import { runtimeTypeName } from '../../src/cel/values/runtime-types.ts'
import { DYN } from '../../src/cel/checker/type.ts'
import type { Value } from '../../src/cel/values/value.ts'
import { CelError, TypeValue } from '../../src/cel/values/value.ts'
import { baseEnvironment } from '../../src/expressions/environments.ts'
import { AUTHORIZER, AuthorizerValue } from '../../src/expressions/library/authorizer.ts'
import { jsonPatch } from '../../src/expressions/library/json-patch.ts'
import { mutationTypes } from '../../src/expressions/mutation-types.ts'
import facts from './libraries.json' with { type: 'json' }

const environment = baseEnvironment().extend({
  libraries: [jsonPatch],
  types: mutationTypes,
  variables: [
    ...Object.keys(facts.variables).map((name) => ({ name, type: DYN })),
    { name: 'authorizer', type: AUTHORIZER },
  ],
})

/** Everyone may get; the authorizer itself fails where the verb is `fail`. */
const authorizer = new AuthorizerValue({ name: 'alice', uid: '', groups: [], extra: {} }, (_, { verb }) => ({
  allowed: verb === 'get',
  reason: '',
  ...(verb === 'fail' ? { error: 'broken' } : {}),
}))
const variables = new Map<string, Value>([
  ...Object.entries(facts.variables).map(([name, json]) => [name, valueOfJson(json, asDouble)] as const),
  ['authorizer', authorizer],
])

const unbounded = (cost: number): number | 'unbounded' => (cost > MAX_COST / 2 ? 'unbounded' : cost)

function textOf(value: Value): string | undefined {
  if (value === null) return 'null'
  if (value instanceof TypeValue) return runtimeTypeName(value.type)
  const text = toText(value)
  return typeof text === 'string' ? text : undefined
}

function answer(expr: string): Record<string, unknown> {
  const { expression, issues } = compile(expr, environment)
  if (expression === undefined) return { compile: issues }
  const { min, max } = estimateCost(expression, () => undefined)
  const estimate = [unbounded(min), unbounded(max)]
  let program
  try {
    program = programOf(expression, environment)
  } catch (error) {
    return { program: String(error).replace(/^Error: /, ''), estimate }
  }
  const { value, cost } = program.run((name) => variables.get(name), 1e9)
  if (value instanceof CelError) return { error: value.message, cost, estimate }
  const text = textOf(value)
  return { ...(text === undefined ? {} : { value: text }), cost, estimate }
}

/** What kube-apiserver 1.36 answers: value or error, what it costs, and what it was estimated to cost. */
describe.each(Object.entries(facts.cases))('%s', (_, cases) => {
  test.each(cases as readonly { readonly expr: string }[])('$expr', ({ expr, ...expected }) => {
    expect(answer(expr)).toEqual(expected)
  })
})
