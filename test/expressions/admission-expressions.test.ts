import { describe, expect, test } from 'vitest'
import type { ExpressionUse } from '../../src/expressions/admission-expressions.ts'
import { atOnce } from '../../src/base/slices.ts'
import { compileAdmissionExpression, compileVariables } from '../../src/expressions/admission-expressions.ts'
import { admissionEnvironment } from '../../src/expressions/environments.ts'

const environment = admissionEnvironment({ authorizer: true, mutation: true, variables: [] })

describe('the allowed types of an expression’s result', () => {
  test.each<[string, ExpressionUse, string | undefined]>([
    ['object.spec.replicas < 5', 'validation', undefined],
    ['1', 'validation', 'must evaluate to bool but got int'],
    ['object.a', 'validation', 'must evaluate to bool but got dyn'],
    ['timestamp("2020-01-01T00:00:00Z")', 'validation', 'must evaluate to bool but got google.protobuf.Timestamp'],
    ['{"a": [1]}', 'matchCondition', 'must evaluate to bool but got map(string, list(int))'],
    ['"a"', 'auditAnnotation', undefined],
    ['null', 'auditAnnotation', undefined],
    ['1', 'auditAnnotation', 'must evaluate to one of [string null_type] but got int'],
    ['Object{metadata: Object.metadata{labels: {"a": "b"}}}', 'applyConfiguration', undefined],
    ['[JSONPatch{op: "add", path: "/a", value: 1}]', 'jsonPatch', undefined],
    ['JSONPatch{op: "add"}', 'jsonPatch', 'must evaluate to list(JSONPatch) but got JSONPatch'],
    [
      'duration("x") == duration("1s")',
      'validation',
      'compilation failed: ERROR: <input>:1:10: invalid duration argument\n | duration("x") == duration("1s")\n | .........^',
    ],
  ])('%s as %s', (text, use, problem) => {
    const compiled = compileAdmissionExpression(text, environment, use)
    expect(compiled.program === undefined ? compiled.problem : undefined).toBe(problem)
  })
})

test('a variable may name those before it, with their types', () => {
  const sources = [
    { name: 'names', expression: 'object.items.map(i, string(i.name))' },
    { name: 'first', expression: 'variables.names[0] + 1' },
    { name: 'late', expression: 'variables.later' },
    { name: 'later', expression: 'quantity("1")' },
  ]
  const { variables, declarations } = atOnce(compileVariables(sources, {}))
  expect(
    variables.map(({ expression }) => (expression.program === undefined ? expression.problem.split('\n')[0] : '')),
  ).toEqual([
    '',
    "compilation failed: ERROR: <input>:1:20: found no matching overload for '_+_' applied to '(string, int)'",
    "compilation failed: ERROR: <input>:1:10: undefined field 'later'",
    '',
  ])
  expect(declarations.map(({ type }) => type.kind)).toEqual(['list', 'dyn', 'dyn', 'dyn'])
})
