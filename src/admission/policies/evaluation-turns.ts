/**
 * Expressions of policies and conditions run up to their budget of cost, which takes seconds: in steps, between which
 * others have their turn. Most expressions cost little, and run at once.
 */
import { turnOfOthers } from '../../api/slices.ts'
import type { Variables } from '../../cel/frame.ts'
import { CostExceeded, STOP } from '../../cel/frame.ts'
import type { Program, Result, Started } from '../../cel/program.ts'
import { CelError } from '../../cel/value.ts'

/** Units between two turns: some milliseconds. */
const STEP = 50_000

/** Units that expressions of this isolate have spent since others had their turn. */
let spent = 0

export const isTurnDue = (): boolean => spent >= STEP

export async function turn(): Promise<void> {
  await turnOfOthers()
  spent = 0
}

/** @throws CostExceeded, if it costs more than a step */
export function atOnce(program: Program, lookUp: Variables): Result {
  try {
    const result = program.run(lookUp, STEP)
    spent += result.cost
    return result
  } catch (error) {
    // cost that led to no answer counts, too
    if (isDear(error)) spent += STEP / 2
    throw error
  }
}

/** Whether an expression that ran at once wants steps. */
export const isDear = (error: unknown): boolean => error instanceof CostExceeded || error === STOP

/** Undefined: the turn is over. An expression that exceeds its own limit fails, and the next one runs. */
export function step(started: Started): Result | undefined {
  try {
    const result = started.goOn(STEP)
    spent += result === undefined ? STEP : Math.min(STEP, result.cost)
    return result
  } catch (error) {
    if (!(error instanceof CostExceeded)) throw error
    spent += STEP
    return { value: new CelError(error.message), cost: error.cost }
  }
}
