/** Plans comprehensions. A comprehension runs without a stop, or in steps that end between two items (frame.ts). */
import { goTypeName } from '../values/describe.ts'
import type { Between, Frame, Items, Stops } from './frame.ts'
import type { Planned, Step } from './planned.ts'
import type { Value } from '../values/value.ts'
import { CelError, ListValue, MapValue } from '../values/value.ts'

/** The planned parts of a comprehension, and the slots of its variables. */
export interface FoldParts {
  readonly range: Step
  readonly condition: Step
  readonly step: Step
  readonly result: Step
  readonly accumulator: number
  readonly first: number
  readonly second: number | undefined
  /** Slots of the comprehensions in its condition and its step. */
  readonly slots: Between
  /** Numbers of the calls in its condition and its step. */
  readonly calls: Between
}

/** Evaluates the initial value when the accumulator is first read: a binding that is not used costs nothing. */
export const accumulatedIn =
  (accumulator: number, initial: Step): Step =>
  (frame) => {
    const known = frame.locals[accumulator]
    if (known !== undefined) return known
    const made = initial(frame)
    frame.stops?.noteMade(accumulator)
    return (frame.locals[accumulator] = made)
  }

export const inSlot =
  (slot: number): Step =>
  (frame) =>
    frame.locals[slot]!

export function foldOf({
  range,
  condition,
  step,
  result,
  accumulator,
  first,
  second,
  slots,
  calls,
}: FoldParts): Planned {
  /** @returns false if the loop ends */
  const turn = (frame: Frame, one: Value, other: Value): boolean => {
    frame.locals[first] = one
    if (second !== undefined) frame.locals[second] = other
    if (condition(frame) === false) return false
    frame.locals[accumulator] = step(frame)
    return true
  }
  const two = second !== undefined
  const inSteps = (frame: Frame, stops: Stops): Value => {
    let place = stops.resume(accumulator, frame)
    if (place === undefined) {
      const over = range(frame)
      if (over instanceof CelError) return over
      const items = itemsFor(over, two)
      if (items instanceof CelError) return items
      frame.locals[accumulator] = undefined
      place = stops.enter(accumulator, items, frame)
    }
    const { items } = place
    while (place.at < items.size) {
      const goesOn = turn(frame, items.one(place.at), items.other(place.at))
      stops.forget(slots, calls)
      stops.advance(place, frame, goesOn)
    }
    return result(frame)
  }
  return {
    evaluate: (frame) => {
      if (frame.stops !== undefined) return inSteps(frame, frame.stops)
      const over = range(frame)
      if (over instanceof CelError) return over
      frame.locals[accumulator] = undefined
      const problem = each(over, two, (one, other) => turn(frame, one, other))
      return problem ?? result(frame)
    },
  }
}

/** The items of a range, by index. */
function itemsFor(range: Value, two: boolean): Items | CelError {
  if (range instanceof ListValue)
    return two
      ? { size: range.size, one: (at) => BigInt(at), other: (at) => range.at(at) }
      : { size: range.size, one: (at) => range.at(at), other: () => null }
  if (range instanceof MapValue) {
    const keys = [...range.keys()]
    return { size: keys.length, one: (at) => keys[at]!, other: (at) => (two ? range.get(keys[at]!)! : null) }
  }
  return notIterable(range, two)
}

function notIterable(range: Value, two: boolean): CelError {
  const type = goTypeName(range)
  return new CelError(two ? `unsupported comprehension range type: ${type}` : `got '${type}', expected iterable type`)
}

/** @returns an error if the range is not iterable */
function each(range: Value, two: boolean, turn: (one: Value, other: Value) => boolean): CelError | undefined {
  if (range instanceof ListValue) {
    for (let i = 0; i < range.size; i++) {
      const element = range.at(i)
      if (!(two ? turn(BigInt(i), element) : turn(element, null))) return undefined
    }
    return undefined
  }
  if (range instanceof MapValue) {
    for (const key of range.keys()) if (!turn(key, two ? range.get(key)! : null)) return undefined
    return undefined
  }
  return notIterable(range, two)
}
