// The compilation of a long expression yields to other requests between its passes and within each of them.
import { expect, test } from 'vitest'
import { inParts } from '../../src/base/parts.ts'
import type { Steps } from '../../src/base/slices.ts'
import { atOnce, inTurns } from '../../src/base/slices.ts'
import {
  compileAdmissionExpression,
  compileVariables,
  compilingAdmissionExpression,
} from '../../src/expressions/admission-expressions.ts'
import { admissionEnvironment } from '../../src/expressions/environments.ts'
import { PolicyExpressions } from '../../src/expressions/policy-expressions.ts'

const LONG = Array.from({ length: 1_000 }, () => 'object.a == 1').join(' || ')
const WRONG = `${LONG} || 1`
const environment = admissionEnvironment({})

async function turnsOf<T>(steps: Steps<T>): Promise<{ readonly made: T; readonly turns: number }> {
  let turns = 0
  const made = await inTurns(steps, async () => void turns++)
  return { made, turns }
}

test.each([LONG, WRONG, `${LONG} || `])('it comes to what it is at once', async (text) => {
  const atOnceMade = compileAdmissionExpression(text, environment, 'validation')
  const { made, turns } = await turnsOf(compilingAdmissionExpression(text, environment, 'validation'))
  expect({ ...made, program: undefined, is: made.program !== undefined }).toEqual({
    ...atOnceMade,
    program: undefined,
    is: atOnceMade.program !== undefined,
  })
  if (made.program !== undefined) expect(turns).toBeGreaterThanOrEqual(10)
})

test('the compilation of a short expression does not yield', async () => {
  expect(await turnsOf(compilingAdmissionExpression('true', environment, 'validation'))).toMatchObject({ turns: 0 })
})

test('the compilation of variables yields, too', async () => {
  const { made, turns } = await turnsOf(compileVariables([{ name: 'a', expression: LONG }], {}))
  expect(turns).toBeGreaterThanOrEqual(10)
  expect(made.declarations).toEqual(atOnce(compileVariables([{ name: 'a', expression: LONG }], {})).declarations)
})

test('the validation of an expression yields, too', async () => {
  const expressions = new PolicyExpressions({ hasParams: false, hasVariables: false })
  const { made, turns } = await turnsOf(inParts(() => expressions.compile(LONG, 'validation')))
  expect(made.program).toBeDefined()
  expect(turns).toBeGreaterThanOrEqual(10)
})
