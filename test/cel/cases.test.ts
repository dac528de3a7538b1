/** Answers of cel-go in kube-apiserver's environment: value, type and cost, or the error (generate-cases.mjs). */
import { describe, expect, test } from 'vitest'
import { compile } from '../../src/cel/compile.ts'
import { toText } from '../../src/cel/values/conversions.ts'
import { ProgramError, programOf } from '../../src/cel/evaluation/program.ts'
import { runtimeTypeName } from '../../src/cel/values/runtime-types.ts'
import type { Value } from '../../src/cel/values/value.ts'
import { CelError, TypeValue } from '../../src/cel/values/value.ts'
import { resultTypeText } from '../../src/expressions/admission-expressions.ts'
import { baseEnvironment } from '../../src/expressions/environments.ts'
import recorded from '../fixtures/cel-cases.json' with { type: 'json' }

interface Answer {
  readonly refused?: string
  readonly program?: string
  readonly type?: string
  readonly text?: string
  readonly error?: string
  readonly cost?: number
}

function textOf(value: Value): { readonly text?: string } {
  const text = value === null ? 'null' : value instanceof TypeValue ? runtimeTypeName(value.type) : toText(value)
  return typeof text === 'string' ? { text } : {}
}

function answerOf(expr: string): Answer {
  const { expression, issues } = compile(expr, baseEnvironment())
  if (expression === undefined) return { refused: issues }
  try {
    const { value, cost } = programOf(expression, baseEnvironment()).run(() => undefined, 1_000_000)
    const type = resultTypeText(expression.type)
    return value instanceof CelError ? { type, error: value.message, cost } : { type, ...textOf(value), cost }
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error
    return { program: error.message }
  }
}

describe('as kube-apiserver', () => {
  test.each(Object.entries(recorded as unknown as Readonly<Record<string, [expr: string, answer: Answer][]>>))(
    '%s',
    (_, cases) => {
      const answers = cases.map(([expr]) => [expr, answerOf(expr)])
      const differences = answers.filter((answer, index) => JSON.stringify(answer) !== JSON.stringify(cases[index]))
      expect(differences).toEqual(cases.filter(([expr]) => differences.some(([other]) => other === expr)))
    },
  )
})
