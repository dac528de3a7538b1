/** What an environment declares: variables, functions with their overloads, macros. A library says all of itself in one file. */
import type { Call, Comprehension, Constant, Expression } from './ast.ts'
import type { Type } from './type.ts'
import type { Value } from './value.ts'

export interface Overload {
  /** As cel-go names it (`add_int64`): coverage, cost tables and duplicate checks go by it. */
  readonly id: string
  /** In member form the first parameter is the target. */
  readonly member: boolean
  readonly parameters: readonly Type[]
  readonly result: Type
  /**
   * Works on values; answers an error value instead of throwing. Absent for what the evaluator does itself (`_&&_`,
   * `_?_:_`, index and selection) and where `FunctionDeclaration.run` serves all overloads.
   */
  readonly run?: Run
  /** Units that a call costs at run time; default 1. Sizes are those of the values. It is paid before `run` is called. */
  readonly cost?: (args: readonly Value[]) => number
  /** Instead, where it goes by what was made. `run` says by itself what it does (work.ts). */
  readonly costOfResult?: (result: Value) => number
  /** The same at compile time, from sizes that types and limits allow; default 1 to 1. */
  readonly estimate?: (args: readonly SizedNode[], sizes: SizeEstimator) => CallEstimate
  /** Arguments may be errors or unknown: the function decides (`_||_`-like). Default false. */
  readonly nonStrict?: boolean
}

export type Run = (args: readonly Value[]) => Value

export interface FunctionDeclaration {
  readonly name: string
  readonly overloads: readonly Overload[]
  /** Serves all overloads. */
  readonly run?: Run
  /** Of a call whose overload is known only when it runs; default 1. */
  readonly cost?: Overload['cost']
  /** Whether `run` knows values like the first argument. */
  readonly accepts?: (first: Value) => boolean
  /** `run` of overloads is called whatever the types of the arguments are. Default: only where they fit. */
  readonly unguarded?: boolean
  /** What is wrong with a call beyond the types of its arguments. */
  readonly verify?: (call: Call, typeOf: (node: Expression) => Type) => readonly Finding[]
  /** A pattern among the arguments: a literal that cannot be compiled makes the program impossible. */
  readonly pattern?: number
  /** An argument that is checked when it is a literal. */
  readonly literal?: { readonly index: number; isValid(value: Constant): boolean }
}

/** Something wrong with a part of an expression. */
export interface Finding {
  readonly at: Expression
  readonly message: string
}

export interface VariableDeclaration {
  readonly name: string
  readonly type: Type
}

/** Rewrites a call as it is parsed. */
export interface Macro {
  readonly function: string
  readonly member: boolean
  /** Undefined: any number. */
  readonly argumentCount: number | undefined
  /** Undefined: the call stays as it is. @throws MacroError with the text and the node that it is about */
  expand(make: ExpressionFactory, target: Expression | undefined, args: readonly Expression[]): Expression | undefined
}

/** Makes nodes with new ids at the place of the macro call. */
export interface ExpressionFactory {
  literal(value: Constant): Expression
  identifier(name: string): Expression
  accumulator(): Expression
  readonly accumulatorName: string
  call(name: string, ...args: Expression[]): Expression
  memberCall(name: string, target: Expression, ...args: Expression[]): Expression
  select(operand: Expression, field: string): Expression
  presence(operand: Expression, field: string): Expression
  list(...elements: Expression[]): Expression
  map(...entries: [key: Expression, value: Expression][]): Expression
  fold(fold: Omit<Comprehension, 'kind' | 'id'>): Expression
  /** The same expression with ids of its own. */
  copy(expression: Expression): Expression
  error(message: string, at: Expression | undefined): Error
}

export interface Library {
  readonly name: string
  readonly functions: readonly FunctionDeclaration[]
  readonly variables?: readonly VariableDeclaration[]
  readonly macros?: readonly Macro[]
  /** Types that expressions can name (`type(x) == net.IP`). */
  readonly types?: ReadonlyMap<string, Type>
}

/** Inclusive; `max` may be Infinity where the size is not known. */
export interface Range {
  readonly min: number
  readonly max: number
}

/** An argument at compile time. */
export interface SizedNode {
  readonly expression: Expression
  readonly type: Type
  /** Path from a variable (`['self', 'spec', '@items']`), empty for what is computed. */
  readonly path: readonly string[]
  /** Known from the expression itself (literals, results of calls). */
  readonly computedSize: Range | undefined
}

export interface SizeEstimator {
  sizeOf(node: SizedNode): Range
  sizeOfElements(list: SizedNode): Range
}

export interface CallEstimate {
  readonly cost: Range
  /** Of the result, where it has a size. */
  readonly resultSize?: Range
}
