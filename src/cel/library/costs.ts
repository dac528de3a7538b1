/**
 * The costs of calls: at run time from the sizes of the values, at compile time from the sizes that are possible. A
 * string or bytes value costs a tenth of a unit for each character or byte that is read.
 */
import { leastOf } from '../../base/extremes.ts'
import { exactly, plus, reading, scaled, times } from '../estimate.ts'
import type { Overload, Range, SizedNode, SizeEstimator } from '../declarations.ts'
import { sizeOf, traversal } from '../values/runtime-size.ts'
import type { Value } from '../values/value.ts'
import { ListValue, MapValue } from '../values/value.ts'
import { visit } from '../evaluation/work.ts'

export type Costs = Required<Pick<Overload, 'cost' | 'estimate'>>
/** A cost that depends on the size of the result. */
export type CostsOfResult = Required<Pick<Overload, 'costOfResult' | 'estimate'>>

const sizes = (args: readonly SizedNode[], estimator: SizeEstimator): readonly Range[] =>
  args.map((argument) => estimator.sizeOf(argument))

/** A fixed cost. */
export const fixed = (cost: number): Costs => ({
  cost: () => cost,
  estimate: () => ({ cost: exactly(cost) }),
})

/**
 * The cost of reading an argument `count` times.
 * @param result the size of the result, from the size of the argument
 */
export const readingOf = (index: number, count = 1, result?: (size: Range) => Range): Costs => ({
  cost: (args) => traversal(sizeOf(args[index]!) * count),
  estimate: (args, estimator) => {
    const size = estimator.sizeOf(args[index]!)
    return { cost: reading(size, 0.1 * count), ...(result === undefined ? {} : { resultSize: result(size) }) }
  },
})

export const sameSize = (size: Range): Range => size

/** `startsWith` and `endsWith`. cel-go charges for the whole text at run time, but estimates from the affix. */
export const affix: Costs = {
  cost: ([text]) => traversal(sizeOf(text!)),
  estimate: ([, part], estimator) => ({ cost: reading(estimator.sizeOf(part!)) }),
}

export const readingBoth: Costs = {
  cost: ([a, b]) => traversal(sizeOf(a!) + sizeOf(b!)),
  estimate: (args, estimator) => ({ cost: reading(plus(...sizes(args, estimator))) }),
}

/** The cost of a comparison, which ends with the shorter argument. */
export const readingSmaller: Costs = {
  cost: ([a, b]) => traversal(Math.min(sizeOf(a!), sizeOf(b!))),
  estimate: (args, estimator) => {
    const max = leastOf(sizes(args, estimator).map((size) => size.max))
    return { cost: reading({ min: max > 0 ? 1 : 0, max }) }
  },
}

export const searching: Costs = {
  cost: ([text, part]) => traversal(sizeOf(text!)) * traversal(sizeOf(part!)),
  estimate: (args, estimator) => {
    const [text, part] = sizes(args, estimator)
    return { cost: times(reading(text!), reading(part!)) }
  },
}

export const lookingThrough: Costs = {
  cost: ([, list]) => sizeOf(list!),
  estimate: ([, list], estimator) => ({ cost: estimator.sizeOf(list!) }),
}

/** The cost of `matches`: text + 1, so that an empty text is not free, times a quarter of the pattern. */
export const matching: Costs = {
  cost: ([text, pattern]: readonly Value[]) => costOfMatch(sizeOf(text!), sizeOf(pattern!)),
  estimate: (args, estimator) => {
    const [text, pattern] = sizes(args, estimator)
    return { cost: times(reading(plus(text!, exactly(1))), scaled(pattern!, 0.25)) }
  },
}

/** The cost of traversing a value and everything in it. The cost of each string or bytes value is rounded down. */
export function costOfTraversal(value: Value): number {
  if (typeof value === 'string') return Math.floor(utf8Length(value) * 0.1)
  if (value instanceof Uint8Array) return Math.floor(value.length * 0.1)
  let cost = 0
  if (value instanceof ListValue) {
    // Empty strings have no cost, and lists can share their parts. So the visits count as work.
    visit(value.size)
    for (let i = 0; i < value.size; i++) cost += costOfTraversal(value.at(i))
  } else if (value instanceof MapValue) {
    visit(value.size)
    for (const key of value.keys()) cost += costOfTraversal(key) + costOfTraversal(value.get(key)!)
  } else return 1
  return cost
}

function utf8Length(text: string): number {
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    // a surrogate pair has four bytes, two for each half
    length += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3
  }
  return length
}

/** The cost of visiting each element once. Elements that are strings or bytes are read as well. */
export const traversing: Costs = {
  cost: ([value]) => costOfTraversal(value!),
  estimate: ([node], estimator) => {
    const size = estimator.sizeOf(node!)
    const { type } = node!
    if (type.kind !== 'list') return { cost: reading(size) }
    const isText = type.element.kind === 'string' || type.element.kind === 'bytes'
    return { cost: times(size, isText ? plus(exactly(1), reading(estimator.sizeOfElements(node!))) : exactly(1)) }
  },
}

export const costOfMatch = (text: number, pattern: number): number => traversal(text + 1) * Math.ceil(pattern * 0.25)
