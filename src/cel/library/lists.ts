/** List functions: kube-apiserver's own library, and cel-go's lists library, version 3. */
import { equal, itemsOf, listFrom } from '../values/collections.ts'
import type { FunctionDeclaration, Library, Macro, Overload, Range, SizedNode, SizeEstimator } from '../declarations.ts'
import { appendParts, variableOf } from '../syntax/macros.ts'
import { runtimeType } from '../values/runtime-types.ts'
import { sameType } from '../checker/type-relations.ts'
import { sizeOf } from '../values/runtime-size.ts'
import type { Type } from '../checker/type.ts'
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, listOf, parameter, STRING, TIMESTAMP, UINT } from '../checker/type.ts'
import type { Value } from '../values/value.ts'
import { visit } from '../evaluation/work.ts'
import { CelError, Duration, ListValue, Uint } from '../values/value.ts'
import { traversing } from './costs.ts'
import { binary, fn, member, overload, unary, withCost } from './declare.ts'
import { bound } from './optional.ts'
import { add } from '../values/arithmetic.ts'
import { noSuchOverload } from '../values/numbers.ts'
import { compare, isComparable } from '../values/order.ts'

const A = parameter('A')
const LIST = listOf(A)

const comparable: readonly [name: string, type: Type][] = [
  ['int', INT],
  ['uint', UINT],
  ['double', DOUBLE],
  ['bool', BOOL],
  ['duration', DURATION],
  ['timestamp', TIMESTAMP],
  ['string', STRING],
  ['bytes', BYTES],
]
const summable: readonly [name: string, type: Type, zero: Value][] = [
  ['int', INT, 0n],
  ['uint', UINT, new Uint(0n)],
  ['double', DOUBLE, 0],
  ['duration', DURATION, new Duration(0n)],
]
/** The names that cel-go uses for these types in the overload ids of its list functions. */
const runtimeNames: ReadonlyMap<string, string> = new Map([
  ['duration', 'google.protobuf.Duration'],
  ['timestamp', 'google.protobuf.Timestamp'],
])

/** The types of arguments are checked before an overload runs, so the value is a list. */
const list = (value: Value | undefined): ListValue => value as ListValue

/** Neighbours of different types are in order, as in kube-apiserver. */
function isSorted(items: Value): Value {
  let before: Value | undefined
  for (const item of itemsOf(list(items))) {
    if (!isComparable(item)) return noSuchOverload()
    const order = before === undefined ? 0 : compare(before, item)
    if (!(order instanceof CelError) && order > 0) return false
    before = item
  }
  return true
}

const summed = (zero: Value) => (items: Value) => {
  let sum = zero
  for (const item of itemsOf(list(items))) {
    sum = add(sum, item)
    if (sum instanceof CelError) return sum
  }
  return sum
}

const extreme = (name: 'min' | 'max') => (items: Value) => {
  const [first, ...others] = itemsOf(list(items))
  if (first === undefined) return new CelError(`${name} called on empty list`)
  let best = first
  for (const item of others) {
    const order = compare(best, item)
    if (order instanceof CelError) continue
    if (name === 'min' ? order > 0 : order < 0) best = item
  }
  return best
}

const find = (from: 'first' | 'last') =>
  binary((items, item) => {
    const isItem = (one: Value): boolean => equal(one, item)
    const values = itemsOf(list(items))
    return BigInt(from === 'first' ? values.findIndex(isItem) : values.findLastIndex(isItem))
  })

export const kubernetesLists: Library = {
  name: 'kubernetes.lists',
  functions: withCost(traversing.cost, [
    fn(
      'isSorted',
      ...comparable.map(([name, type]) =>
        member(`list_${name}_is_sorted_bool`, [listOf(type)], BOOL, { ...traversing, run: unary(isSorted) }),
      ),
    ),
    fn(
      'sum',
      ...summable.map(([name, type, zero]) =>
        member(`list_${name}_sum_${name}`, [listOf(type)], type, { ...traversing, run: unary(summed(zero)) }),
      ),
    ),
    ...(['max', 'min'] as const).map((which) =>
      fn(
        which,
        ...comparable.map(([name, type]) =>
          member(`list_${name}_${which}_${name}`, [listOf(type)], type, {
            ...traversing,
            run: unary(extreme(which)),
          }),
        ),
      ),
    ),
    fn('indexOf', member('list_a_index_of_int', [LIST, A], INT, { ...traversing, run: find('first') })),
    fn('lastIndexOf', member('list_a_last_index_of_int', [LIST, A], INT, { ...traversing, run: find('last') })),
  ]),
}

/** The cost of a call that creates a list. */
const LIST_CALL = 11

function slice([items, from, to]: readonly Value[]): Value {
  const values = list(items)
  const [start, end] = [Number(from as bigint), Number(to as bigint)]
  const refuse = (reason: string): CelError => new CelError(`cannot slice(${start}, ${end}), ${reason}`)
  if (start < 0 || end < 0) return refuse('negative indexes not supported')
  if (start > end) return refuse('start index must be less than or equal to end index')
  if (values.size < end) return refuse(`list is length ${values.size}`)
  visit(end - start)
  return listFrom(Array.from({ length: end - start }, (_, index) => values.at(start + index)))
}

function flattened(values: ListValue, depth: number, flat: Value[] = []): Value[] {
  visit(values.size)
  for (const value of itemsOf(values)) {
    if (value instanceof ListValue && depth > 0) flattened(value, depth - 1, flat)
    else flat.push(value)
  }
  return flat
}

const flatten = (items: Value, depth: bigint): Value => {
  if (depth < 0n) return new CelError('level must be non-negative')
  return items instanceof ListValue ? listFrom(flattened(items, Number(depth))) : new CelError('no such overload')
}

function sortedBy(items: ListValue, keys: ListValue): Value {
  if (items.size !== keys.size)
    return new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${items.size} and ${keys.size} elements respectively`,
    )
  const keyValues = itemsOf(keys)
  const [first] = keyValues
  if (first === undefined) return items
  if (!isComparable(first)) return new CelError('list elements must be comparable')
  if (keyValues.some((key) => !sameType(runtimeType(key), runtimeType(first))))
    return new CelError('list elements must have the same type')
  const values = itemsOf(items)
  const order = values.map((_, index) => index)
  order.sort((a, b) => Number(compare(keyValues[a]!, keyValues[b]!)))
  return listFrom(order.map((index) => values[index]!))
}

function distinct(items: ListValue): Value {
  const texts = new Set<Value>()
  const others: Value[] = []
  return listFrom(
    itemsOf(items).filter((value) => {
      if (typeof value === 'string') return texts.size < texts.add(value).size
      // few: limits of macros and list functions bound these values; objects have many elements only of strings
      if (others.some((one) => equal(one, value))) return false
      others.push(value)
      return true
    }),
  )
}

/** The longest list that `lists.range` makes. The cost limit ends an evaluation long before. */
const MAX_RANGE = 10_000_000n

/** The size of the list that `lists.range` makes, or 1 for its error. */
const sizeOfRange = (end: bigint): number => (end > MAX_RANGE ? 1 : end > 0n ? Number(end) : 0)

function range(count: Value): Value {
  const end = count as bigint // the type is checked before the overload runs
  if (end > MAX_RANGE) return new CelError('list is too long')
  return listFrom(Array.from({ length: end > 0n ? Number(end) : 0 }, (_, index) => BigInt(index)))
}

const costOfOutput: Overload['costOfResult'] = (result) => sizeOf(result) + LIST_CALL

/** The cost if each element may be compared with every other. */
const costOfComparing =
  (argument: number): Overload['cost'] =>
  (args) => {
    const items = list(args[argument])
    const first = items.size > 0 ? items.at(0) : null
    const factor = typeof first === 'string' || first instanceof Uint8Array ? 2.1 : 2
    return Math.floor(items.size * items.size * factor) + LIST_CALL
  }

const estimated = (size: Range, factor: number, sized = size) => ({
  cost: { min: Math.ceil(size.min * factor) + LIST_CALL, max: Math.ceil(size.max * factor) + LIST_CALL },
  resultSize: sized,
})

const square = ({ min, max }: Range): Range => ({ min: min * min, max: max * max })

const estimateOfSize = ([items]: readonly SizedNode[], sizes: SizeEstimator) => estimated(sizes.sizeOf(items!), 1)

const estimateOfComparing =
  (argument: number, factor: number): Overload['estimate'] =>
  (args, sizes) =>
    estimated(square(sizes.sizeOf(args[argument]!)), factor)

/** The value of an int literal, at least zero. Otherwise the assumed value. */
function literalOr(node: SizedNode | undefined, otherwise: number): number {
  const value = node?.expression.kind === 'literal' ? node.expression.value : undefined
  return typeof value === 'bigint' ? Math.max(0, Number(value)) : otherwise
}

/** The factor of a comparison's cost. It is a little higher for strings and bytes. */
const factorOf = (type: Type): number => (type === STRING || type === BYTES ? 2.1 : 2)

const sortBy: Macro = {
  function: 'sortBy',
  member: true,
  argumentCount: 2,
  expand(make, target, [variable, key]) {
    if (!['list', 'select', 'identifier', 'comprehension', 'call'].includes(target!.kind))
      throw make.error(
        'sortBy can only be applied to a list, identifier, comprehension, call or select expression',
        target,
      )
    const input = '@__sortBy_input__'
    const keys = make.fold({
      range: make.identifier(input),
      variable: variableOf(make, variable!, 'argument is not an identifier'),
      secondVariable: undefined,
      accumulator: make.accumulatorName,
      ...appendParts(make, undefined, key!),
    })
    return bound(make, input, target!, make.memberCall('@sortByAssociatedKeys', make.identifier(input), keys))
  },
}

const perType = (suffix: string, make: (type: Type, id: string) => Overload): Overload[] =>
  comparable.map(([name, type]) => make(type, `list_${runtimeNames.get(name) ?? name}_${suffix}`))

export const extendedLists: Library = {
  name: 'lists',
  macros: [sortBy],
  functions: [
    fn(
      'slice',
      member('list_slice', [LIST, INT, INT], LIST, {
        run: slice,
        costOfResult: costOfOutput,
        estimate: ([items, from, to], sizes) => {
          const count = literalOr(to, sizes.sizeOf(items!).max) - literalOr(from, 0)
          return estimated({ min: count, max: count }, 1)
        },
      }),
    ),
    {
      ...fn(
        'flatten',
        member('list_flatten', [listOf(LIST)], LIST, {
          run: unary((items) => flatten(items, 1n)),
          cost: ([items]) => sizeOf(items!) + LIST_CALL,
          estimate: estimateOfSize,
        }),
        member('list_flatten_int', [listOf(DYN), INT], listOf(DYN), {
          run: binary((items, depth) => flatten(items, depth as bigint)),
          cost: ([items, depth]) => sizeOf(items!) * Number(depth as bigint) + LIST_CALL,
          estimate: ([items, depth], sizes) =>
            estimated(sizes.sizeOf(items!), literalOr(depth, Infinity), sizes.sizeOf(items!)),
        }),
      ),
      unguarded: true,
    } satisfies FunctionDeclaration,
    {
      ...fn(
        'sort',
        ...perType('sort', (type, id) =>
          member(id, [listOf(type)], listOf(type), {
            cost: costOfComparing(0),
            estimate: estimateOfComparing(0, factorOf(type)),
          }),
        ),
      ),
      accepts: (value) => value instanceof ListValue,
      run: unary((items) => sortedBy(list(items), list(items))),
    },
    {
      ...fn(
        '@sortByAssociatedKeys',
        ...perType('sortByAssociatedKeys', (type, id) =>
          member(id, [LIST, listOf(type)], LIST, {
            cost: costOfComparing(1),
            estimate: estimateOfComparing(1, factorOf(type)),
          }),
        ),
      ),
      accepts: (value) => value instanceof ListValue,
      run: binary((items, keys) => sortedBy(list(items), list(keys))),
    },
    fn(
      'lists.range',
      overload('lists_range', [INT], listOf(INT), {
        run: unary(range),
        cost: ([count]) => sizeOfRange(count as bigint) + LIST_CALL,
        estimate: ([count]) => {
          const size = literalOr(count, Infinity)
          return estimated({ min: size, max: size }, 1)
        },
      }),
    ),
    fn(
      'reverse',
      member('list_reverse', [LIST], LIST, {
        run: unary((items) => listFrom(itemsOf(list(items)).reverse())),
        cost: ([items]) => sizeOf(items!) + LIST_CALL,
        estimate: estimateOfSize,
      }),
    ),
    fn(
      'distinct',
      member('list_distinct', [LIST], LIST, {
        run: unary((items) => distinct(list(items))),
        cost: costOfComparing(0),
        estimate: estimateOfComparing(0, 2),
      }),
    ),
  ],
}
