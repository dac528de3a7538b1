/**
 * Another implementation of CEL, @marcbachmann/cel-js, on expressions that both take: what it answers is compared, and
 * whether it answers at all. Left out is where it speaks another dialect: macros over empty lists and maps, cel-go's
 * libraries, unsigned integers beside others, NaN, offsets of time zones.
 */
import { evaluate } from '@marcbachmann/cel-js'
import { describe, expect, test } from 'vitest'
import fc from '../chance.ts'
import { compile } from '../../src/cel/compile.ts'
import { toText } from '../../src/cel/values/conversions.ts'
import { programOf } from '../../src/cel/evaluation/program.ts'
import { CelError } from '../../src/cel/values/value.ts'
import { baseEnvironment } from '../../src/expressions/environments.ts'
import recorded from '../fixtures/cel-cases.json' with { type: 'json' }

const FAILS = 'fails'

function ours(text: string): string {
  const { expression } = compile(text, baseEnvironment())
  if (expression === undefined) return FAILS
  const { value } = programOf(expression, baseEnvironment()).run(() => undefined, 1_000_000)
  return value instanceof CelError ? FAILS : String(toText(value))
}

function theirs(text: string): string {
  try {
    return String(evaluate(text))
  } catch {
    return FAILS
  }
}

const operators = {
  of: 'int',
  arithmetic: ['+', '-', '*', '/', '%'],
  order: ['<', '<=', '==', '!=', '>', '>='],
} as const

const { bool, int, text } = fc.letrec<{ bool: string; int: string; text: string; list: string }>((tie) => ({
  int: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('0', '1', '2', '-3', '41', '9223372036854775807'),
    fc.tuple(tie('int'), fc.constantFrom(...operators.arithmetic), tie('int')).map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie('bool'), tie('int'), tie('int')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    tie('text').map((a) => `size(${a})`),
    fc.tuple(tie('list'), fc.constantFrom('0', '1', '9')).map(([a, at]) => `${a}[${at}]`),
    tie('text').map((a) => `{"a": 1, "b": 2}[${a}]`),
  ),
  text: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('"a"', '"b"', '"ab"', '""', '"Ünï"'),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => `(${a} + ${b})`),
    fc.tuple(tie('bool'), tie('text'), tie('text')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    tie('int').map((a) => `string(${a})`),
  ),
  list: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('[1, 2]', '[3]', '[0, 7, -1]'),
    fc.tuple(tie('int'), tie('int')).map(([a, b]) => `[${a}, ${b}]`),
    fc.tuple(tie('list'), tie('list')).map(([a, b]) => `(${a} + ${b})`),
    tie('list').map((a) => `${a}.map(x, x * 2)`),
  ),
  bool: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('true', 'false'),
    fc.tuple(tie('int'), fc.constantFrom(...operators.order), tie('int')).map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie('text'), fc.constantFrom('==', '!=', '<'), tie('text')).map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie('bool'), fc.constantFrom('&&', '||'), tie('bool')).map(([a, op, b]) => `(${a} ${op} ${b})`),
    tie('bool').map((a) => `!(${a})`),
    fc.tuple(tie('int'), tie('list')).map(([a, b]) => `(${a} in ${b})`),
    fc
      .tuple(tie('list'), fc.constantFrom('all', 'exists', 'exists_one'), tie('int'))
      .map(([a, macro, b]) => `${a}.${macro}(x, 10 / x > ${b})`),
    fc
      .tuple(tie('text'), fc.constantFrom('contains', 'startsWith', 'endsWith'), tie('text'))
      .map(([a, test, b]) => `${a}.${test}(${b})`),
  ),
}))

describe('as @marcbachmann/cel-js', () => {
  // one seed: what the other implementation does differently is for a person to look at
  test.each(Object.entries({ bool, int, text }))('expressions of type %s', (_, expressions) =>
    fc.assert(
      fc.property(expressions, (text) => {
        expect(`${text} = ${ours(text)}`).toBe(`${text} = ${theirs(text)}`)
      }),
      { seed: 20260101, numRuns: 400 },
    ),
  )

  const groups = ['logic', 'arithmetic of others', 'equality across types', 'what is no expression'] as const
  test.each(groups)('%s', (group) => {
    // each case is an expression and its answer
    const expressions = recorded[group].map(([expression]) => expression as string)
    const plain = expressions.filter((one) => !one.startsWith("'%s'"))
    expect(plain.map((one) => [one, theirs(one) === FAILS])).toEqual(plain.map((one) => [one, ours(one) === FAILS]))
  })
})
