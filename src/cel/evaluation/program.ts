/**
 * Programs: checked expressions that can run. Names and overloads are resolved when a program is planned. While it
 * runs, each closure adds its cost to the frame, and the evaluation ends when the cost exceeds the limit. The costs are
 * those of cel-go's cost tracking.
 */
import type { Steps } from '../../base/slices.ts'
import { atOnce } from '../../base/slices.ts'
import type { CheckedExpression } from '../checker/checker.ts'
import type { Environment } from '../environment.ts'
import { CostExceeded, Frame, STOP, Stops } from './frame.ts'
import type { Variables } from './frame.ts'
import type { Step } from './planned.ts'
import { Planner } from './planner.ts'
import type { Value } from '../values/value.ts'
import { CelError } from '../values/value.ts'
import { metered, WorkExceeded } from './work.ts'

export { ProgramError } from './planned.ts'

export interface Result {
  readonly value: Value
  readonly cost: number
}

export interface Program {
  /** Evaluates without a stop. @throws CostExceeded */
  run(variables: Variables, costLimit: number): Result
  /** Evaluates in steps, with the same value and the same cost. For expressions that may be expensive. */
  start(variables: Variables, costLimit: number): Started
}

/** An evaluation in steps. */
export interface Started {
  /** Undefined until the evaluation has ended. */
  readonly result: Result | undefined
  /**
   * Continues for about `units` of cost. If the lookup of a variable throws, the step ends, and the next step looks it
   * up again.
   * @throws CostExceeded
   */
  goOn(units: number): Result | undefined
}

/** Units of work (work.ts) for one unit of cost: cel-go charges one unit for ten characters. */
const WORK_OF_COST = 10
/** Work below this has no cost. Most evaluations do less, and cost what they cost in kube-apiserver. */
const FREE_WORK = 10_000

/** @throws ProgramError */
export const programOf = (checked: CheckedExpression, environment: Environment): Program =>
  atOnce(programInSteps(checked, environment))

/** Like programOf, but yields to other requests. @throws ProgramError */
export function* programInSteps(checked: CheckedExpression, environment: Environment): Steps<Program> {
  const { evaluate: step } = yield* new Planner(checked, environment).plan(checked.root)
  return {
    run: (variables, costLimit) => evaluated(step, new Frame(variables, costLimit), costLimit),
    start: (variables, costLimit) => new InSteps(step, variables, costLimit),
  }
}

/** @throws CostExceeded, and what variables and stops throw */
function evaluated(step: Step, frame: Frame, costLimit: number): Result {
  try {
    const { made, done } = metered(FREE_WORK + costLimit * WORK_OF_COST, () => step(frame))
    return { value: made, cost: Math.max(frame.cost, Math.floor((done - FREE_WORK) / WORK_OF_COST)) }
  } catch (error) {
    if (error instanceof WorkExceeded) throw new CostExceeded(Math.max(frame.cost, costLimit + 1))
    // the value nests deeper than the stack of the engine
    if (error instanceof RangeError) return { value: new CelError('evaluation nests too deep'), cost: frame.cost }
    throw error
  }
}

class InSteps implements Started {
  result: Result | undefined
  private readonly stops = new Stops()
  private readonly frame: Frame

  constructor(
    private readonly step: Step,
    variables: Variables,
    private readonly costLimit: number,
  ) {
    this.frame = new Frame(variables, costLimit, this.stops)
  }

  goOn(units: number): Result | undefined {
    if (this.result !== undefined) return this.result
    const { frame, stops } = this
    frame.cost = 0
    stops.begin(units, units * WORK_OF_COST)
    try {
      this.result = evaluated(this.step, frame, this.costLimit)
    } catch (error) {
      stops.undo(frame)
      if (error !== STOP) throw error
    }
    return this.result
  }
}
