/** `sets.contains`, `sets.equivalent` and `sets.intersects` for lists. */
import type { FunctionDeclaration, Library, Overload, SizedNode, SizeEstimator } from '../declarations.ts'
import { isIn } from '../values/collections.ts'
import { BOOL, listOf, parameter } from '../checker/type.ts'
import type { Value } from '../values/value.ts'
import { ListValue } from '../values/value.ts'
import { visit } from '../evaluation/work.ts'
import { sizeOf } from '../values/runtime-size.ts'
import { fn, overload } from './declare.ts'

const LIST = listOf(parameter('T'))

/** The cost of looking for every element of one list in the other. `times` is 2 if that happens in both directions. */
const costs = (times: number): Pick<Overload, 'cost' | 'estimate'> => ({
  cost: ([a, b]) => sizeOf(a!) * sizeOf(b!) * times + 1,
  estimate: ([a, b]: readonly SizedNode[], sizes: SizeEstimator) => {
    const [left, right] = [sizes.sizeOf(a!), sizes.sizeOf(b!)]
    return { cost: { min: left.min * right.min * times + 1, max: left.max * right.max * times + 1 } }
  },
})

const setFunction = (
  name: string,
  times: number,
  holds: (a: ListValue, b: ListValue) => boolean,
): FunctionDeclaration =>
  fn(
    `sets.${name}`,
    overload(`list_sets_${name}_list`, [LIST, LIST], BOOL, {
      ...costs(times),
      // the types of arguments are checked before an overload runs, so both are lists
      run: ([a, b]) => holds(a as ListValue, b as ListValue),
    }),
  )

const some = (list: ListValue, holds: (value: Value) => boolean): boolean => {
  // if the other list is empty the cost is zero, so the visits count as work
  visit(list.size)
  for (let i = 0; i < list.size; i++) if (holds(list.at(i))) return true
  return false
}

const containsAll = (list: ListValue, part: ListValue): boolean => !some(part, (value) => isIn(value, list) !== true)

export const sets: Library = {
  name: 'sets',
  functions: [
    setFunction('contains', 1, containsAll),
    setFunction('equivalent', 2, (a, b) => containsAll(a, b) && containsAll(b, a)),
    setFunction('intersects', 1, (a, b) => some(a, (value) => isIn(value, b) === true)),
  ],
}
