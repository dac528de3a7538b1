/**
 * The state of one evaluation. An evaluation in steps stops between two items of a comprehension, or after an expensive
 * call: it throws STOP. The next step runs the expression again from its start. An expression changes nothing, so it
 * comes to the same comprehensions and calls. A comprehension then continues at its item, and an expensive call returns
 * the result that it had. Both restore the cost so far. Whatever stands before them runs again.
 */
import type { Value } from '../values/value.ts'
import { resumeWork, workLeft } from './work.ts'

/** Looks up a variable that an expression names. */
export type Variables = (name: string) => Value | undefined

export class CostExceeded extends Error {
  /** @param cost that was spent when the evaluation ended */
  constructor(readonly cost: number) {
    super('operation cancelled: actual cost limit exceeded')
  }
}

export class Frame {
  cost = 0
  /** Iteration variables and accumulators of comprehensions, by slot. */
  readonly locals: (Value | undefined)[] = []

  constructor(
    readonly variables: Variables,
    private readonly limit: number,
    /** Absent: the evaluation runs without a stop. */
    readonly stops?: Stops,
  ) {}

  spend(cost: number): void {
    this.cost += cost
    if (this.cost > this.limit) throw new CostExceeded(this.cost)
  }
}

/** An evaluation throws it when its step is over. */
export const STOP = new Error('assertion failed: an evaluation was stopped that nobody goes on with')

/** The items of a comprehension's range. */
export interface Items {
  readonly size: number
  one(at: number): Value
  other(at: number): Value
}

/** The cost and the work that remained when the evaluation came to a place. */
interface Spent {
  readonly cost: number
  readonly work: number
}

/**
 * How far a comprehension is: its next item, and the cost when that item began. The slot of its accumulator identifies
 * it.
 */
interface Place extends Spent {
  readonly items: Items
  at: number
  cost: number
  work: number
}

/** An expensive call that has returned. */
interface Answered extends Spent {
  readonly result: Value
}

/** A call is expensive if it does more than a tenth of a step's work. The next step repeats cheaper calls. */
const FEW = 10

/** The slots, or the calls, of a part of an expression. */
export interface Between {
  readonly from: number
  readonly to: number
}

export class Stops {
  private readonly places: (Place | undefined)[] = []
  /** By call number. */
  private readonly answers: (Answered | undefined)[] = []
  private hasAnswers = false
  /**
   * Accumulators set since the last place. If the step ends before the next place, the next step sets and pays for them
   * again.
   */
  private made: number[] = []
  private units = 0
  private workUnits = 0
  /** The cost and the work where this step continued. */
  private cost = 0
  private work = 0
  private hasPlace = false

  begin(units: number, work: number): void {
    this.units = units
    this.workUnits = work
    this.hasPlace = false
  }

  undo(frame: Frame): void {
    for (const slot of this.made) frame.locals[slot] = undefined
    this.made = []
  }

  noteMade(slot: number): void {
    this.made.push(slot)
  }

  enter(slot: number, items: Items, frame: Frame): Place {
    const place = { items, at: 0, cost: 0, work: 0 }
    this.places[slot] = place
    this.reach(place, frame)
    if (!this.hasPlace) this.goOnFrom(place)
    return place
  }

  resume(slot: number, frame: Frame): Place | undefined {
    const place = this.places[slot]
    if (place === undefined) return undefined
    frame.cost = place.cost
    resumeWork(place.work)
    this.goOnFrom(place)
    return place
  }

  /** Called after each item of a comprehension. @throws STOP */
  advance(place: Place, frame: Frame, goesOn: boolean): void {
    place.at = goesOn ? place.at + 1 : place.items.size
    this.reach(place, frame)
    this.stopAt(place.cost, place.work)
  }

  /** The result of an expensive call of an earlier step. Restores the cost of that time. */
  answerOf(call: number, frame: Frame): Value | undefined {
    const answered = this.answers[call]
    if (answered === undefined) return undefined
    frame.cost = answered.cost
    resumeWork(answered.work)
    this.goOnFrom(answered)
    return answered.result
  }

  /** Called after each function call. @throws STOP */
  answer(call: number, result: Value, before: Spent, frame: Frame): void {
    const work = workLeft()
    if ((before.work - work) * FEW < this.workUnits) return
    this.answers[call] = { result, cost: frame.cost, work }
    this.hasAnswers = true
    if (this.made.length > 0) this.made = []
    if (!this.hasPlace) this.goOnFrom(before)
    this.stopAt(frame.cost, work)
  }

  /** Called after each item. The comprehensions and calls within it run again for the next item. */
  forget(slots: Between, calls: Between): void {
    for (let slot = slots.from; slot < slots.to; slot++) this.places[slot] = undefined
    if (this.hasAnswers) for (let call = calls.from; call < calls.to; call++) this.answers[call] = undefined
  }

  private stopAt(cost: number, work: number): void {
    if (cost - this.cost > this.units || this.work - work > this.workUnits) throw STOP
  }

  private reach(place: Place, frame: Frame): void {
    place.cost = frame.cost
    place.work = workLeft()
    if (this.made.length > 0) this.made = []
  }

  private goOnFrom({ cost, work }: Spent): void {
    this.hasPlace = true
    this.cost = cost
    this.work = work
  }
}
