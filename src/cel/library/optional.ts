/** Optional values: `optional.of(x)`, `a.?b.orValue(c)`, `x.optMap(v, …)` (cel-go's optional library). */
import type { Expression } from '../syntax/ast.ts'
import { itemsOf, listFrom } from '../values/collections.ts'
import type { ExpressionFactory, Library, Macro } from '../declarations.ts'
import { BOOL, DYN, INT, listOf, mapOf, opaque, optionalOf, parameter, STRING } from '../checker/type.ts'
import type { Value } from '../values/value.ts'
import { CelError, Duration, ListValue, MapValue, Optional, Timestamp, Uint } from '../values/value.ts'
import { noSuchOverload } from '../values/numbers.ts'
import { fn, member, overload, unary } from './declare.ts'

const K = parameter('K')
const V = parameter('V')
const OPTIONAL = optionalOf(V)
const LIST = listOf(V)
const MAP = mapOf(K, V)

/** The iteration variable of a binding. No expression uses it, because the comprehension runs over an empty list. */
const UNUSED = '#unused'

/** Binds `name` to `value` in `body`, with a comprehension over an empty list. */
export const bound = (make: ExpressionFactory, name: string, value: Expression, body: Expression): Expression =>
  make.fold({
    range: make.list(),
    variable: UNUSED,
    secondVariable: undefined,
    accumulator: name,
    initial: value,
    condition: make.literal(false),
    step: make.identifier(name),
    result: body,
  })

const mapping = (name: string, wrap: (make: ExpressionFactory, body: Expression) => Expression): Macro => ({
  function: name,
  member: true,
  argumentCount: 2,
  expand(make, target, [variable, body]) {
    if (variable?.kind !== 'identifier')
      throw make.error(`${name}() variable name must be a simple identifier`, variable)
    const value = make.memberCall('value', make.copy(target!))
    return make.call(
      '_?_:_',
      make.memberCall('hasValue', target!),
      wrap(make, bound(make, variable.name, value, body!)),
      make.call('optional.none'),
    )
  },
})

function isZero(value: Value): boolean {
  if (value === null || value === false || value === '') return true
  if (typeof value === 'bigint' || typeof value === 'number') return Number(value) === 0
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Uint8Array) return value.length === 0
  if (value instanceof ListValue || value instanceof MapValue) return value.size === 0
  if (value instanceof Duration) return value.nanos === 0n
  if (value instanceof Timestamp) return value.seconds === -62135596800n && value.nanos === 0
  return value instanceof Optional && value.value === undefined
}

const contentOf = (value: Value): Value =>
  value instanceof Optional ? (value.value ?? emptyOrNull(value)) : noSuchOverload()

const emptyOrNull = ({ value }: Optional): Value =>
  value === undefined ? new CelError('optional.none() dereference') : value

const hasValue = (value: Value): Value => value instanceof Optional && value.value !== undefined

function unwrapped(list: Value): Value {
  if (!(list instanceof ListValue)) return noSuchOverload()
  const values: Value[] = []
  for (const item of itemsOf(list)) {
    if (!(item instanceof Optional)) return new CelError(`value ${String(item)} is not optional`)
    if (item.value !== undefined) values.push(item.value)
  }
  return listFrom(values)
}

const edge = (name: 'first' | 'last') =>
  fn(
    name,
    member(`list_${name}`, [LIST], OPTIONAL, {
      run: unary((list) => {
        if (!(list instanceof ListValue)) return noSuchOverload()
        return list.size === 0 ? Optional.none : new Optional(list.at(name === 'first' ? 0 : list.size - 1))
      }),
    }),
  )

export const optionals: Library = {
  name: 'optional',
  types: new Map([['optional_type', opaque('optional_type')]]),
  macros: [
    mapping('optMap', (make, body) => make.call('optional.of', body)),
    mapping('optFlatMap', (_make, body) => body),
  ],
  functions: [
    fn('optional.of', overload('optional_of', [V], OPTIONAL, { run: unary((value) => new Optional(value)) })),
    fn(
      'optional.ofNonZeroValue',
      overload('optional_ofNonZeroValue', [V], OPTIONAL, {
        run: unary((value) => (isZero(value) ? Optional.none : new Optional(value))),
      }),
    ),
    fn('optional.none', overload('optional_none', [], OPTIONAL, { run: () => Optional.none })),
    fn('value', member('optional_value', [OPTIONAL], V, { run: unary(contentOf) })),
    fn('hasValue', member('optional_hasValue', [OPTIONAL], BOOL, { run: unary(hasValue) })),
    // the planner evaluates the second operand only if the first one is empty (operators.ts)
    fn('or', member('optional_or_optional', [OPTIONAL, OPTIONAL], OPTIONAL)),
    fn('orValue', member('optional_orValue_value', [OPTIONAL, V], V)),
    fn('_?._', overload('select_optional_field', [DYN, STRING], OPTIONAL)),
    fn(
      '_[?_]',
      overload('list_optindex_optional_int', [LIST, INT], OPTIONAL),
      overload('optional_list_optindex_optional_int', [optionalOf(LIST), INT], OPTIONAL),
      overload('map_optindex_optional_value', [MAP, K], OPTIONAL),
      overload('optional_map_optindex_optional_value', [optionalOf(MAP), K], OPTIONAL),
    ),
    fn(
      '_[_]',
      overload('optional_list_index_int', [optionalOf(LIST), INT], OPTIONAL),
      overload('optional_map_index_value', [optionalOf(MAP), K], OPTIONAL),
    ),
    edge('first'),
    edge('last'),
    fn('optional.unwrap', overload('optional_unwrap', [listOf(OPTIONAL)], LIST, { run: unary(unwrapped) })),
    fn('unwrapOpt', member('optional_unwrapOpt', [listOf(OPTIONAL)], LIST, { run: unary(unwrapped) })),
  ],
}
