/**
 * cel-go's two-variable comprehensions, such as `map.all(key, value, …)` and `list.transformList(index, element, …)`.
 */
import type { Expression } from '../syntax/ast.ts'
import { ValueMap } from '../values/collections.ts'
import type { ExpressionFactory, Library, Macro } from '../declarations.ts'
import { allParts, appendParts, existsOneParts, existsParts } from '../syntax/macros.ts'
import { ACCUMULATOR } from '../syntax/builder.ts'
import { mapOf, parameter } from '../checker/type.ts'
import type { Value } from '../values/value.ts'
import { CelError, MapValue } from '../values/value.ts'
import { visit } from '../evaluation/work.ts'
import { describe } from '../values/describe.ts'
import { binary, fn, overload } from './declare.ts'

type Parts = ReturnType<typeof allParts>

const OLD_ACCUMULATOR = '__result__'

function variablesOf(make: ExpressionFactory, first: Expression, second: Expression): [string, string] {
  for (const argument of [first, second])
    if (argument.kind !== 'identifier') throw make.error('argument must be a simple name', argument)
  const names = [first, second].map((argument) => (argument.kind === 'identifier' ? argument.name : ''))
  const [one = '', two = ''] = names
  if (one === two) throw make.error(`duplicate variable name: ${one}`, second)
  for (const argument of [first, second])
    if (argument.kind === 'identifier' && (argument.name === ACCUMULATOR || argument.name === OLD_ACCUMULATOR))
      throw make.error('iteration variable overwrites accumulator variable', argument)
  return [one, two]
}

const folding = (
  name: string,
  argumentCount: number,
  parts: (make: ExpressionFactory, args: readonly Expression[], key: string) => Parts,
): Macro => ({
  function: name,
  member: true,
  argumentCount,
  expand(make, target, [first, second, ...args]) {
    const [variable, secondVariable] = variablesOf(make, first!, second!)
    return make.fold({
      range: target!,
      variable,
      secondVariable,
      accumulator: make.accumulatorName,
      ...parts(make, args, variable),
    })
  },
})

/** Inserts the entries that `insert` makes into the accumulated map. */
function insertParts(
  make: ExpressionFactory,
  filter: Expression | undefined,
  insert: (accumulator: Expression) => Expression,
): Parts {
  const step = insert(make.accumulator())
  return {
    initial: make.map(),
    condition: make.literal(true),
    step: filter === undefined ? step : make.call('_?_:_', filter, step, make.accumulator()),
    result: make.accumulator(),
  }
}

const INSERT = 'cel.@mapInsert'
const K = parameter('K')
const V = parameter('V')
const MAP = mapOf(K, V)

function insert(map: Value, key: Value, value: Value): Value {
  const target = map instanceof ValueMap ? map : copyOf(map)
  return target.with(key, value) ?? new CelError(`insert failed: key ${describe(key)} already exists`)
}

const copyOf = (map: Value): ValueMap =>
  map instanceof MapValue ? ValueMap.of([...map.keys()].map((key) => [key, map.get(key)!] as const)) : ValueMap.empty

function insertAll(map: Value, added: Value): Value {
  let result = map
  if (!(added instanceof MapValue)) return map
  visit(added.size)
  for (const key of added.keys()) {
    result = insert(result, key, added.get(key)!)
    if (result instanceof CelError) return result
  }
  return result
}

export const twoVariableFolds: Library = {
  name: 'two-variable folds',
  macros: [
    folding('all', 3, (make, [predicate]) => allParts(make, predicate!)),
    folding('exists', 3, (make, [predicate]) => existsParts(make, predicate!)),
    folding('existsOne', 3, (make, [predicate]) => existsOneParts(make, predicate!)),
    folding('exists_one', 3, (make, [predicate]) => existsOneParts(make, predicate!)),
    folding('transformList', 3, (make, [element]) => appendParts(make, undefined, element!)),
    folding('transformList', 4, (make, [filter, element]) => appendParts(make, filter, element!)),
    folding('transformMap', 3, (make, [value], key) =>
      insertParts(make, undefined, (map) => make.call(INSERT, map, make.identifier(key), value!)),
    ),
    folding('transformMap', 4, (make, [filter, value], key) =>
      insertParts(make, filter, (map) => make.call(INSERT, map, make.identifier(key), value!)),
    ),
    folding('transformMapEntry', 3, (make, [entry]) =>
      insertParts(make, undefined, (map) => make.call(INSERT, map, entry!)),
    ),
    folding('transformMapEntry', 4, (make, [filter, entry]) =>
      insertParts(make, filter, (map) => make.call(INSERT, map, entry!)),
    ),
  ],
  functions: [
    fn(
      INSERT,
      overload('@mapInsert_map_key_value', [MAP, K, V], MAP, {
        run: ([map, key, value]) => insert(map!, key!, value!),
      }),
      overload('@mapInsert_map_map', [MAP, MAP], MAP, { run: binary(insertAll) }),
    ),
  ],
}
