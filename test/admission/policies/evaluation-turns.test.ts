import { expect, test } from 'vitest'
import { atOnce, isTurnDue, turn } from '../../../src/admission/policies/evaluation-turns.ts'
import type { Program } from '../../../src/cel/evaluation/program.ts'

const costing = (cost: number): Program => ({ run: () => ({ value: true, cost }) }) as unknown as Program

test.each<[what: string, program: Program, most: number]>([
  ['cheap expressions', costing(1), 1_000],
  ['expressions of no cost', costing(0), 1_000],
  ['dear expressions', costing(20_000), 3],
])('after many %s a turn of others is due', async (_, program, most) => {
  await turn()
  let evaluated = 0
  for (; !isTurnDue() && evaluated < 10_000; evaluated++) atOnce(program, () => undefined)
  expect(evaluated).toBeLessThanOrEqual(most)
  await turn()
  expect(isTurnDue()).toBe(false)
})
