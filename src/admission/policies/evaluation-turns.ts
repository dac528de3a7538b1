/**
 * Runs expressions of policies and conditions. Their budget of cost allows seconds, so dear ones run in steps,
 * between which other requests have their turn. Most expressions are cheap and run at once.
 */
import { turnOfOthers } from '../../base/slices.ts'
import type { Variables } from '../../cel/evaluation/frame.ts'
import { CostExceeded, STOP } from '../../cel/evaluation/frame.ts'
import type { Program, Result, Started } from '../../cel/evaluation/program.ts'
import { CelError } from '../../cel/values/value.ts'

/** Cost units between two turns: some milliseconds. */
const STEP = 50_000

/** What an evaluation takes beside the cost of its expression: about ten microseconds, as cost units. */
const EVALUATION = 100

/** Cost units that this isolate's expressions have spent since other requests had their turn. */
let spent = 0

export const isTurnDue = (): boolean => spent >= STEP

export async function turn(): Promise<void> {
  await turnOfOthers()
  spent = 0
}

/** @throws CostExceeded where it costs more than a step */
export function atOnce(program: Program, lookUp: Variables): Result {
  try {
    const result = program.run(lookUp, STEP)
    spent += result.cost + EVALUATION
    return result
  } catch (error) {
    // the cost of a failed attempt counts too
    if (isDear(error)) spent += STEP / 2
    throw error
  }
}

/** Whether an expression failed at once only because it needs steps. */
export const isDear = (error: unknown): boolean => error instanceof CostExceeded || error === STOP

/**
 * Runs one step. Undefined where the expression has not ended. An expression over its own limit fails, and the next
 * one runs.
 */
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
