import { describe, expect, test } from 'vitest'
import { compile } from '../../src/cel/compile.ts'
import { Environment } from '../../src/cel/environment.ts'
import { toText } from '../../src/cel/values/conversions.ts'
import { estimateCost } from '../../src/cel/estimate.ts'
import { standardLibrary } from '../../src/cel/library/standard.ts'
import { programOf } from '../../src/cel/evaluation/program.ts'
import { CelError } from '../../src/cel/values/value.ts'
import { declaredTypeOf, sizesOf } from '../../src/expressions/schema-types.ts'
import { valueOf } from '../../src/expressions/schema-values.ts'
import { structuralOf } from '../../src/schema/from-openapi.ts'
import facts from './schema-types.json' with { type: 'json' }

const declared = declaredTypeOf(structuralOf(facts.schema), 'selfType1', true)!
const environment = Environment.empty.extend({
  libraries: [standardLibrary],
  variables: [
    { name: 'self', type: declared.type },
    { name: 'oldSelf', type: declared.type },
  ],
  types: declared.provider,
})
const sizes = sizesOf(declared.node)

/** What kube-apiserver 1.36 answers for an expression over an object of a definition. */
describe('expressions over objects of a schema', () => {
  test('the least size of an object', () => expect(declared.node.minSerializedSize).toBe(facts.minSize))
  test.each(facts.cases)('$expr', ({ expr, ...expected }) => {
    const { expression, issues } = compile(expr, environment)
    if (expression === undefined) return expect({ compile: issues }).toEqual(expected)
    const { min, max } = estimateCost(expression, sizes)
    const { value, cost } = programOf(expression, environment).run(() => valueOf(facts.self, declared.node), 1e9)
    const text = toText(value)
    const answer =
      value instanceof CelError ? { error: value.message } : { value: typeof text === 'string' ? text : '' }
    expect({ ...answer, cost, estimate: [min, max] }).toEqual(expected)
  })
})
