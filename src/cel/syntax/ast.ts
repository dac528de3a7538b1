/**
 * The syntax tree of an expression after macro expansion (cel-spec's syntax.proto). Each node has an id that is unique
 * in its tree. The tree's `offsets` holds the position of each node in the text, in code points.
 */
import type { Uint } from '../values/value.ts'

/** The value of a literal: int, uint, double, string, bytes, bool or null. */
export type Constant = bigint | Uint | number | string | Uint8Array | boolean | null

export type Expression =
  Literal | Identifier | Select | Call | ListExpression | MapExpression | StructExpression | Comprehension

/** A node without child nodes. Most nodes are leaves, so passes over the tree do not yield for each of them. */
export const isLeaf = (node: Expression): node is Literal | Identifier =>
  node.kind === 'literal' || node.kind === 'identifier'

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
  /** True for `has(operand.field)`. */
  readonly testOnly: boolean
}

export interface Call extends Node {
  readonly kind: 'call'
  /** `size`, `_+_`, `_?_:_`, `_[_]`, `_?._`, `@in` … as cel-spec names operators. */
  readonly function: string
  /** The target of a call in member form. */
  readonly target: Expression | undefined
  readonly args: readonly Expression[]
}

export interface ListExpression extends Node {
  readonly kind: 'list'
  readonly elements: readonly Expression[]
  /** The indexes of elements that are written as `?e`. */
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

/**
 * A comprehension over a list's elements or a map's keys. With `secondVariable` the variables are the index and the
 * element, or the key and the value.
 */
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
  readonly offsets: readonly number[]
}
