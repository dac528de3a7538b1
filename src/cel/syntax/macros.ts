/** CEL's standard macros: has, all, exists, exists_one, map and filter. */
import type { Expression } from './ast.ts'
import { ACCUMULATOR } from './builder.ts'
import type { ExpressionFactory, Macro } from '../declarations.ts'

/** The accumulator's name in older cel-go releases. Macros still refuse it as an iteration variable. */
const OLD_ACCUMULATOR = '__result__'

/** @throws MacroError if the argument is no identifier, or the name of the accumulator */
export function variableOf(make: ExpressionFactory, argument: Expression, problem: string): string {
  if (argument.kind !== 'identifier') throw make.error(problem, argument)
  if (argument.name === ACCUMULATOR || argument.name === OLD_ACCUMULATOR)
    throw make.error('iteration variable overwrites accumulator variable', argument)
  return argument.name
}

const NO_SIMPLE_NAME = 'argument must be a simple name'
const NO_IDENTIFIER = 'argument is not an identifier'

type Fold = Parameters<ExpressionFactory['fold']>[0]
type FoldParts = Pick<Fold, 'initial' | 'condition' | 'step' | 'result'>

/** A macro in member form whose first argument names the iteration variable of a comprehension. */
const folding = (
  name: string,
  argumentCount: number,
  problem: string,
  parts: (make: ExpressionFactory, args: readonly Expression[]) => FoldParts,
): Macro => ({
  function: name,
  member: true,
  argumentCount,
  expand(make, target, args) {
    const variable = variableOf(make, args[0]!, problem)
    return make.fold({
      range: target!,
      variable,
      secondVariable: undefined,
      accumulator: make.accumulatorName,
      ...parts(make, args.slice(1)),
    })
  },
})

export const allParts = (make: ExpressionFactory, predicate: Expression): FoldParts => ({
  initial: make.literal(true),
  condition: make.call('@not_strictly_false', make.accumulator()),
  step: make.call('_&&_', make.accumulator(), predicate),
  result: make.accumulator(),
})

export const existsParts = (make: ExpressionFactory, predicate: Expression): FoldParts => ({
  initial: make.literal(false),
  condition: make.call('@not_strictly_false', make.call('!_', make.accumulator())),
  step: make.call('_||_', make.accumulator(), predicate),
  result: make.accumulator(),
})

export const existsOneParts = (make: ExpressionFactory, predicate: Expression): FoldParts => ({
  initial: make.literal(0n),
  condition: make.literal(true),
  step: make.call('_?_:_', predicate, make.call('_+_', make.accumulator(), make.literal(1n)), make.accumulator()),
  result: make.call('_==_', make.accumulator(), make.literal(1n)),
})

/** Appends `element` for each item that satisfies `filter`. Without a filter it appends for every item. */
export function appendParts(make: ExpressionFactory, filter: Expression | undefined, element: Expression): FoldParts {
  const append = make.call('_+_', make.accumulator(), make.list(element))
  return {
    initial: make.list(),
    condition: make.literal(true),
    step: filter === undefined ? append : make.call('_?_:_', filter, append, make.accumulator()),
    result: make.accumulator(),
  }
}

const has: Macro = {
  function: 'has',
  member: false,
  argumentCount: 1,
  expand(make, _target, [argument]) {
    if (argument?.kind !== 'select') throw make.error('invalid argument to has() macro', argument)
    return make.presence(argument.operand, argument.field)
  },
}

export const standardMacros: readonly Macro[] = [
  has,
  folding('all', 2, NO_SIMPLE_NAME, (make, [predicate]) => allParts(make, predicate!)),
  folding('exists', 2, NO_SIMPLE_NAME, (make, [predicate]) => existsParts(make, predicate!)),
  folding('exists_one', 2, NO_SIMPLE_NAME, (make, [predicate]) => existsOneParts(make, predicate!)),
  folding('map', 2, NO_IDENTIFIER, (make, [element]) => appendParts(make, undefined, element!)),
  folding('map', 3, NO_IDENTIFIER, (make, [filter, element]) => appendParts(make, filter, element!)),
  {
    ...folding('filter', 2, NO_IDENTIFIER, (make, [filter]) => appendParts(make, filter, filter!)),
    expand(make, target, [name, filter]) {
      const variable = variableOf(make, name!, NO_IDENTIFIER)
      return make.fold({
        range: target!,
        variable,
        secondVariable: undefined,
        accumulator: make.accumulatorName,
        ...appendParts(make, filter, name!),
      })
    },
  },
]
