/** CEL's standard functions (cel-spec's standard definitions), with the results of cel-go. */
import { add, isAddable, isSubtractable, isWhole, negate, subtract } from '../values/arithmetic.ts'
import { equal, isIn, isIncomparable, isNotComparedWith } from '../values/collections.ts'
import { toBool, toBytes, toDouble, toDuration, toInt, toText, toTimestamp, toUint } from '../values/conversions.ts'
import type { FunctionDeclaration, Library, Overload } from '../declarations.ts'
import { affix, lookingThrough, matching, readingBoth, readingOf, readingSmaller, searching } from './costs.ts'
import type { Costs } from './costs.ts'
import { calendarFunctions } from './calendar.ts'
import { binary, member, overload, unary } from './declare.ts'
import { divide, isNumber, modulo, multiply, noSuchOverload } from '../values/numbers.ts'
import { compare, isComparable } from '../values/order.ts'
import { compiledPattern, matches } from '../values/patterns.ts'
import { runtimeType } from '../values/runtime-types.ts'
import { sizeOf } from '../values/runtime-size.ts'
import type { Type } from '../checker/type.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  parameter,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
} from '../checker/type.ts'
import type { Value } from '../values/value.ts'
import { CelError, Duration, ListValue, MapValue, TypeValue } from '../values/value.ts'

const A = parameter('A')
const B = parameter('B')
const LIST_OF_A = listOf(A)
const MAP_OF_A_B = mapOf(A, B)

type Extra = Pick<Overload, 'run' | 'cost' | 'estimate' | 'nonStrict'>

function comparison(name: string, id: string, holds: (order: number) => boolean): FunctionDeclaration {
  const pair = (suffix: string, a: Type, b: Type, extra: Extra = {}): Overload =>
    overload(`${id}_${suffix}`, [a, b], BOOL, extra)
  return {
    name,
    overloads: [
      pair('bool', BOOL, BOOL),
      pair('int64', INT, INT),
      pair('int64_double', INT, DOUBLE),
      pair('int64_uint64', INT, UINT),
      pair('uint64', UINT, UINT),
      pair('uint64_double', UINT, DOUBLE),
      pair('uint64_int64', UINT, INT),
      pair('double', DOUBLE, DOUBLE),
      pair('double_int64', DOUBLE, INT),
      pair('double_uint64', DOUBLE, UINT),
      pair('string', STRING, STRING, readingSmaller),
      pair('bytes', BYTES, BYTES, readingSmaller),
      pair('timestamp', TIMESTAMP, TIMESTAMP),
      pair('duration', DURATION, DURATION),
    ],
    accepts: isComparable,
    run: binary((a, b) => {
      const order = compare(a, b)
      return order instanceof CelError ? order : holds(order)
    }),
  }
}

function arithmetic(
  name: string,
  overloads: readonly Overload[],
  accepts: (value: Value) => boolean,
  run: (a: Value, b: Value) => Value,
): FunctionDeclaration {
  return { name, overloads, accepts, run: binary(run) }
}

const numeric = (id: string, types: readonly [suffix: string, type: Type][]): Overload[] =>
  types.map(([suffix, type]) => overload(`${id}_${suffix}`, [type, type], type))

const INT64: [string, Type] = ['int64', INT]
const UINT64: [string, Type] = ['uint64', UINT]
const FLOAT64: [string, Type] = ['double', DOUBLE]

const textTest = (
  name: string,
  id: string,
  costs: Costs,
  test: (text: string, other: string) => boolean,
): FunctionDeclaration => ({
  name,
  unguarded: true,
  overloads: [
    member(id, [STRING, STRING], BOOL, {
      run: binary((text, other) =>
        typeof text === 'string' && typeof other === 'string' ? test(text, other) : noSuchOverload(),
      ),
      ...costs,
    }),
  ],
})

/** Declares the overloads of a type conversion, with cel-go's overload ids. */
const conversion = (
  name: string,
  result: Type,
  convert: (value: Value) => Value,
  from: readonly [id: string, type: Type, costs?: Costs][],
): FunctionDeclaration => ({
  name,
  overloads: from.map(([id, type, costs]) => overload(id, [type], result, { run: unary(convert), ...costs })),
})

function typeValue(value: Value): Value {
  return new TypeValue(runtimeType(value))
}

const size: FunctionDeclaration = {
  name: 'size',
  overloads: [
    ...(
      [
        ['bytes', BYTES],
        ['list', LIST_OF_A],
        ['map', MAP_OF_A_B],
        ['string', STRING],
      ] as const
    ).flatMap(([name, type]) => [overload(`size_${name}`, [type], INT), member(`${name}_size`, [type], INT)]),
  ],
  accepts: (value) =>
    typeof value === 'string' || value instanceof Uint8Array || value instanceof ListValue || value instanceof MapValue,
  run: unary((value) => BigInt(sizeOf(value))),
}

export const standardLibrary: Library = {
  name: 'standard',
  functions: [
    { name: '_?_:_', overloads: [overload('conditional', [BOOL, A, A], A, { nonStrict: true })] },
    { name: '_&&_', overloads: [overload('logical_and', [BOOL, BOOL], BOOL, { nonStrict: true })] },
    { name: '_||_', overloads: [overload('logical_or', [BOOL, BOOL], BOOL, { nonStrict: true })] },
    {
      name: '!_',
      overloads: [overload('logical_not', [BOOL], BOOL)],
      run: unary((value) => (typeof value === 'boolean' ? !value : noSuchOverload())),
    },
    {
      name: '@not_strictly_false',
      overloads: [
        overload('not_strictly_false', [BOOL], BOOL, {
          nonStrict: true,
          run: unary((value) => (value instanceof CelError ? true : value)),
        }),
      ],
    },
    {
      name: '_==_',
      overloads: [overload('equals', [A, A], BOOL, readingSmaller)],
      run: binary((a, b) => (isNotComparedWith(a, b) ? noSuchOverload() : equal(a, b))),
    },
    {
      name: '_!=_',
      overloads: [overload('not_equals', [A, A], BOOL, readingSmaller)],
      run: binary((a, b) => isIncomparable(a) || !equal(a, b)),
    },
    arithmetic(
      '_+_',
      [
        overload('add_bytes', [BYTES, BYTES], BYTES, { cost: readingBoth.cost }),
        ...numeric('add', [FLOAT64]),
        overload('add_duration_duration', [DURATION, DURATION], DURATION),
        overload('add_duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP),
        overload('add_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
        ...numeric('add', [INT64]),
        overload('add_list', [LIST_OF_A, LIST_OF_A], LIST_OF_A),
        overload('add_string', [STRING, STRING], STRING, { cost: readingBoth.cost }),
        ...numeric('add', [UINT64]),
      ],
      isAddable,
      add,
    ),
    arithmetic('_/_', numeric('divide', [FLOAT64, INT64, UINT64]), isNumber, divide),
    arithmetic('_%_', numeric('modulo', [INT64, UINT64]), isWhole, modulo),
    arithmetic('_*_', numeric('multiply', [FLOAT64, INT64, UINT64]), isNumber, multiply),
    {
      name: '-_',
      overloads: [overload('negate_double', [DOUBLE], DOUBLE), overload('negate_int64', [INT], INT)],
      accepts: (value) =>
        typeof value === 'bigint' ||
        typeof value === 'number' ||
        typeof value === 'boolean' ||
        value instanceof Duration,
      run: unary(negate),
    },
    arithmetic(
      '_-_',
      [
        ...numeric('subtract', [FLOAT64]),
        overload('subtract_duration_duration', [DURATION, DURATION], DURATION),
        ...numeric('subtract', [INT64]),
        overload('subtract_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
        overload('subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION),
        ...numeric('subtract', [UINT64]),
      ],
      isSubtractable,
      subtract,
    ),
    comparison('_<_', 'less', (order) => order < 0),
    comparison('_<=_', 'less_equals', (order) => order <= 0),
    comparison('_>_', 'greater', (order) => order > 0),
    comparison('_>=_', 'greater_equals', (order) => order >= 0),
    {
      name: '_[_]',
      overloads: [overload('index_list', [LIST_OF_A, INT], A), overload('index_map', [MAP_OF_A_B, A], B)],
    },
    {
      name: '@in',
      overloads: [overload('in_list', [A, LIST_OF_A], BOOL, lookingThrough), overload('in_map', [A, MAP_OF_A_B], BOOL)],
      run: binary(isIn),
    },
    size,
    { name: 'type', overloads: [overload('type', [A], typeOf(A))], run: unary(typeValue) },
    { name: 'dyn', overloads: [overload('to_dyn', [A], DYN)], run: unary((value) => value) },
    conversion('bool', BOOL, toBool, [
      ['bool_to_bool', BOOL],
      ['string_to_bool', STRING],
    ]),
    conversion('bytes', BYTES, toBytes, [
      ['bytes_to_bytes', BYTES],
      ['string_to_bytes', STRING, readingOf(0, 1, ({ min, max }) => ({ min, max: max * 4 }))],
    ]),
    conversion('double', DOUBLE, toDouble, [
      ['double_to_double', DOUBLE],
      ['int64_to_double', INT],
      ['string_to_double', STRING],
      ['uint64_to_double', UINT],
    ]),
    {
      ...conversion('duration', DURATION, toDuration, [
        ['duration_to_duration', DURATION],
        ['int64_to_duration', INT],
        ['string_to_duration', STRING],
      ]),
      literal: { index: 0, isValid: (value) => !(toDuration(value) instanceof CelError) },
    },
    conversion('int', INT, toInt, [
      ['int64_to_int64', INT],
      ['double_to_int64', DOUBLE],
      ['duration_to_int64', DURATION],
      ['string_to_int64', STRING],
      ['timestamp_to_int64', TIMESTAMP],
      ['uint64_to_int64', UINT],
    ]),
    conversion('string', STRING, toText, [
      ['string_to_string', STRING],
      ['bool_to_string', BOOL],
      ['bytes_to_string', BYTES, readingOf(0, 1, ({ min, max }) => ({ min: Math.floor(min / 4), max }))],
      ['double_to_string', DOUBLE],
      ['duration_to_string', DURATION],
      ['int64_to_string', INT],
      ['timestamp_to_string', TIMESTAMP],
      ['uint64_to_string', UINT],
    ]),
    {
      ...conversion('timestamp', TIMESTAMP, toTimestamp, [
        ['timestamp_to_timestamp', TIMESTAMP],
        ['int64_to_timestamp', INT],
        ['string_to_timestamp', STRING],
      ]),
      literal: { index: 0, isValid: (value) => !(toTimestamp(value) instanceof CelError) },
    },
    conversion('uint', UINT, toUint, [
      ['uint64_to_uint64', UINT],
      ['double_to_uint64', DOUBLE],
      ['int64_to_uint64', INT],
      ['string_to_uint64', STRING],
    ]),
    textTest('contains', 'contains_string', searching, (text, part) => text.includes(part)),
    textTest('endsWith', 'ends_with_string', affix, (text, suffix) => text.endsWith(suffix)),
    textTest('startsWith', 'starts_with_string', affix, (text, prefix) => text.startsWith(prefix)),
    {
      name: 'matches',
      overloads: [
        overload('matches', [STRING, STRING], BOOL),
        member('matches_string', [STRING, STRING], BOOL, matching),
      ],
      accepts: (value) => typeof value === 'string',
      run: binary(matches),
      pattern: 1,
      literal: {
        index: 0,
        isValid: (value) => typeof value !== 'string' || !(compiledPattern(value) instanceof CelError),
      },
    },
    ...calendarFunctions,
  ],
}
