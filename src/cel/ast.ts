/**
 * The syntax tree of an expression, after macros are expanded (cel-spec's syntax.proto). Every node has an id that is
 * unique in its tree; `offsets` of the tree says where in the text, in code points, the node begins.
 */
import type { Uint } from './value.ts'

/** What a literal can be: int, uint, double, string, bytes, bool, null. */
export type Constant = bigint | Uint | number | string | Uint8Array | boolean | null

export type Expression =
  Literal | Identifier | Select | Call | ListExpression | MapExpression | StructExpression | Comprehension

interface Node {
  readonly id: number
}

export interface Literal extends Node {
  readonly kind: 'literal'
  readonly value: Constant
}

export interface Identifier extends Node {
  readonly kind: 'identifier'
  /** A leading dot stays in the name: `.x` looks in the root container only. */
  readonly name: string
}

export interface Select extends Node {
  readonly kind: 'select'
  readonly operand: Expression
  readonly field: string
  /** `has(operand.field)`. */
  readonly testOnly: boolean
}

export interface Call extends Node {
  readonly kind: 'call'
  /** `size`, `_+_`, `_?_:_`, `_[_]`, `_?._`, `@in` … as cel-spec names operators. */
  readonly function: string
  /** Of a call in member form. */
  readonly target: Expression | undefined
  readonly args: readonly Expression[]
}

export interface ListExpression extends Node {
  readonly kind: 'list'
  readonly elements: readonly Expression[]
  /** Elements written as `?e`. */
  readonly optional: ReadonlySet<number>
}

export interface MapExpression extends Node {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

export interface MapEntry extends Node {
  readonly key: Expression
  readonly value: Expression
  readonly optional: boolean
}

/** `Type{field: value}`. */
export interface StructExpression extends Node {
  readonly kind: 'struct'
  readonly type: string
  readonly fields: readonly StructField[]
}

export interface StructField extends Node {
  readonly name: string
  readonly value: Expression
  readonly optional: boolean
}

/** A fold over a list's elements or a map's keys; with `secondVariable`: index and element, or key and value. */
export interface Comprehension extends Node {
  readonly kind: 'comprehension'
  readonly range: Expression
  readonly variable: string
  readonly secondVariable: string | undefined
  readonly accumulator: string
  readonly initial: Expression
  readonly condition: Expression
  readonly step: Expression
  readonly result: Expression
}

export interface SyntaxTree {
  readonly text: string
  readonly root: Expression
  /** Node id → offset in code points. */
  readonly offsets: ReadonlyMap<number, number>
  /** Id of a node that a macro made → the call as it was written. */
  readonly macroCalls: ReadonlyMap<number, Expression>
}
