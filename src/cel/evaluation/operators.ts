/** Operators that need not evaluate all their operands, and `in` with a list of literals. */
import { mapKey } from '../values/collections.ts'
import { noSuchOverload } from '../values/numbers.ts'
import type { Planned, Step } from './planned.ts'
import { constant } from './planned.ts'
import type { Value } from '../values/value.ts'
import { CelError, ListValue, Optional, Uint } from '../values/value.ts'

/** `or` and `orValue` of optionals. The second operand is evaluated only if the first one is empty. */
export function alternative(first: Step, second: Step, unwrap: boolean): Step {
  return (frame) => {
    const value = first(frame)
    if (value instanceof CelError) return value
    if (!(value instanceof Optional)) return noSuchOverload()
    if (value.value === undefined) return second(frame)
    return unwrap ? value.value : value
  }
}

/** `&&` and `||`. An operand with the deciding value decides, even if another operand fails. */
export function logic(terms: readonly Step[], deciding: boolean): Step {
  return (frame) => {
    let problem: CelError | undefined
    for (const term of terms) {
      const value = term(frame)
      if (value === deciding) return deciding
      if (typeof value !== 'boolean') problem ??= value instanceof CelError ? value : noSuchOverload()
    }
    return problem ?? !deciding
  }
}

/** Whether a list literal with this element can become a Set. */
const isPrimitive = (value: Value): boolean =>
  value === null || ['string', 'boolean', 'bigint', 'number'].includes(typeof value) || value instanceof Uint

export function membership(element: Planned, list: Value): Planned | undefined {
  if (!(list instanceof ListValue)) return undefined
  if (list.size === 0) return constant(false)
  const keys = new Set<unknown>()
  for (let i = 0; i < list.size; i++) {
    const one = list.at(i)
    if (!isPrimitive(one)) return undefined
    keys.add(one === null ? null : mapKey(one))
  }
  return {
    evaluate: (frame) => {
      const value = element.evaluate(frame)
      if (value instanceof CelError) return value
      const key = value === null ? null : mapKey(value)
      return key !== undefined && keys.has(key)
    },
  }
}
