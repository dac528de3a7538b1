/** Declarations of an environment: variables, functions with overloads, and macros. Each library is one file. */
import type { Call, Comprehension, Constant, Expression } from './syntax/ast.ts'
import type { Type } from './checker/type.ts'
import type { Value } from './values/value.ts'

export interface Overload {
  /** cel-go's overload id (`add_int64`). Coverage, cost tables and duplicate checks use it. */
  readonly id: string
  /** In member form the first parameter is the target. */
  readonly member: boolean
  readonly parameters: readonly Type[]
  readonly result: Type
  /**
   * Evaluates a call. It returns an error value and does not throw. Absent if the planner handles the function itself
   * (`_&&_`, `_?_:_`, index and selection) or if `FunctionDeclaration.run` handles all overloads.
   */
  readonly run?: Run
  /** Units that a call costs at run time, from the sizes of its arguments; default 1. They are charged before `run`. */
  readonly cost?: (args: readonly Value[]) => number
  /** Replaces `cost` if the cost depends on the size of the result. `run` then reports its work itself (work.ts). */
  readonly costOfResult?: (result: Value) => number
  /** The cost at compile time, from the sizes that types and limits allow; default 1 to 1. */
  readonly estimate?: (args: readonly SizedNode[], sizes: SizeEstimator) => CallEstimate
  /** `run` also gets arguments that are errors, as in cel-go's non-strict functions (`_||_`). Default false. */
  readonly nonStrict?: boolean
}

export type Run = (args: readonly Value[]) => Value

export interface FunctionDeclaration {
  readonly name: string
  readonly overloads: readonly Overload[]
  /** Evaluates calls of all overloads. */
  readonly run?: Run
  /** The cost of a call whose overload is known only at run time; default 1. */
  readonly cost?: Overload['cost']
  /** Whether `run` accepts the first argument. */
  readonly accepts?: (first: Value) => boolean
  /** `run` of an overload is called for arguments of any types. Default: only if the arguments fit its parameters. */
  readonly unguarded?: boolean
  /** Reports errors of a call that the types of its arguments do not show. */
  readonly verify?: (call: Call, typeOf: (node: Expression) => Type) => readonly Finding[]
  /** The index of an argument that is a pattern. No program can be made if a literal pattern does not compile. */
  readonly pattern?: number
  /** An argument that is validated at compile time if it is a literal. */
  readonly literal?: { readonly index: number; isValid(value: Constant): boolean }
}

/** An error at a node of an expression. */
export interface Finding {
  readonly at: Expression
  readonly message: string
}

export interface VariableDeclaration {
  readonly name: string
  readonly type: Type
}

/** The parser rewrites calls of a macro. */
export interface Macro {
  readonly function: string
  readonly member: boolean
  /** Undefined: any number of arguments. */
  readonly argumentCount: number | undefined
  /** @returns undefined if the call stays as it is @throws MacroError with a message and the node that causes it */
  expand(make: ExpressionFactory, target: Expression | undefined, args: readonly Expression[]): Expression | undefined
}

/** Makes nodes with new ids. Their offset is that of the macro call. */
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
  /** A copy of the expression with new ids. */
  copy(expression: Expression): Expression
  error(message: string, at: Expression | undefined): Error
}

export interface Library {
  readonly name: string
  readonly functions: readonly FunctionDeclaration[]
  readonly variables?: readonly VariableDeclaration[]
  readonly macros?: readonly Macro[]
  /** Types that expressions can name, as in `type(x) == net.IP`. */
  readonly types?: ReadonlyMap<string, Type>
}

/** Both ends are inclusive. `max` is Infinity if the size has no known limit. */
export interface Range {
  readonly min: number
  readonly max: number
}

/** An argument at compile time. */
export interface SizedNode {
  readonly expression: Expression
  readonly type: Type
  /** The path from a variable (`['self', 'spec', '@items']`). Empty for a computed value. */
  readonly path: readonly string[]
  /** The size that the expression itself implies: of a literal or of the result of a call. */
  readonly computedSize: Range | undefined
}

export interface SizeEstimator {
  sizeOf(node: SizedNode): Range
  sizeOfElements(list: SizedNode): Range
}

export interface CallEstimate {
  readonly cost: Range
  /** The size of the result, if it has one. */
  readonly resultSize?: Range
}
