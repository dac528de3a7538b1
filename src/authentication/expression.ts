/**
 * CEL expressions of authentication and authorization configurations. Their compiler is a layer above, which server.ts
 * and the CLI hand in; it is loaded with the first configuration that has an expression.
 */
import type { JsonLike } from '../cel/json-value.ts'
import type { Value } from '../cel/value.ts'

/** The variables of an expression, and the type of its result: any, or bool. */
export type ExpressionUse = 'claims to a value' | 'claims to a bool' | 'user to a bool' | 'access review to a bool'

export interface Expression {
  readonly text: string
  /** Whether `operand.field`, or `operand.?field`, is anywhere in it. */
  selects(operand: string, field: string): boolean
  /** @throws ExpressionFailed */
  evaluate(subject: JsonLike): Value
}

/** kube-apiserver's words, without the expression. */
export class ExpressionFailed extends Error {
  override readonly name = 'ExpressionFailed'
}

/** Why an expression is not accepted. */
export interface ExpressionRefused {
  readonly problem: string
  readonly isInternal?: boolean
}

export type CompileExpression = (text: string, use: ExpressionUse) => Expression | ExpressionRefused

let load: (() => Promise<CompileExpression>) | undefined

export function compileExpressionsWith(loader: () => Promise<CompileExpression>): void {
  load = loader
}

export function expressionCompiler(): Promise<CompileExpression> {
  if (load === undefined) throw new Error('assertion failed: nobody handed in a compiler of expressions')
  return load()
}
