/**
 * The state of one evaluation. One that is done in steps stops in a fold, between two items: it is thrown out of, and
 * the next step runs the expression again from its start, which comes to the same folds, for an expression changes nothing.
 * Each of them goes on with the item where it was, with what was spent by then. What stands before a fold runs again.
 */
import type { Value } from './value.ts'
import { resumeWork, workLeft } from './work.ts'

/** Asked for the variables that an expression names, each at most once in a step. */
export type Variables = (name: string) => Value | undefined

export class CostExceeded extends Error {
  /** @param cost that was spent when the evaluation ended */
  constructor(readonly cost: number) {
    super('operation cancelled: actual cost limit exceeded')
  }
}

export class Frame {
  cost = 0
  /** Variables of folds, by slot. */
  readonly locals: (Value | undefined)[] = []

  constructor(
    readonly variables: Variables,
    private readonly limit: number,
    /** Absent: it runs at once. */
    readonly stops?: Stops,
  ) {}

  spend(cost: number): void {
    this.cost += cost
    if (this.cost > this.limit) throw new CostExceeded(this.cost)
  }
}

/** Thrown out of an evaluation whose step is over. */
export const STOP = new Error('assertion failed: an evaluation was stopped that nobody goes on with')

/** What a fold goes through. */
export interface Items {
  readonly size: number
  one(at: number): Value
  other(at: number): Value
}

/** How far a fold is. It has the accumulator's slot for a name. */
interface Place {
  readonly items: Items
  at: number
  /** When its item began, or when it was over. */
  cost: number
  work: number
}

export class Stops {
  private readonly places: (Place | undefined)[] = []
  /** Accumulators that were made since a place was last reached: the next step makes them again, and pays for them. */
  private made: number[] = []
  private units = 0
  private workUnits = 0
  /** What was spent where this step went on. */
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

  /** Behind an item. @throws STOP */
  advance(place: Place, frame: Frame, goesOn: boolean): void {
    place.at = goesOn ? place.at + 1 : place.items.size
    this.reach(place, frame)
    if (place.cost - this.cost > this.units || this.work - place.work > this.workUnits) throw STOP
  }

  /** Folds within an item that is done: in the next one they begin anew. */
  forget(from: number, to: number): void {
    for (let slot = from; slot < to; slot++) this.places[slot] = undefined
  }

  private reach(place: Place, frame: Frame): void {
    place.cost = frame.cost
    place.work = workLeft()
    if (this.made.length > 0) this.made = []
  }

  private goOnFrom({ cost, work }: Place): void {
    this.hasPlace = true
    this.cost = cost
    this.work = work
  }
}
