/**
 * CEL expressions of authentication and authorization configurations. Their compiler belongs to a higher layer;
 * server.ts and the CLI hand it in. It is loaded with the first configuration that has an expression.
 */
import type { JsonLike } from '../cel/values/json-value.ts'
import type { Value } from '../cel/values/value.ts'

/** The variables of an expression, and the type of its result: any, or bool. */
export type ExpressionUse = 'claims to a value' | 'claims to a bool' | 'user to a bool' | 'access review to a bool'

export interface Expression {
  readonly text: string
  /** Whether the expression contains `operand.field` or `operand.?field`. */
  selects(operand: string, field: string): boolean
  /** @throws ExpressionFailed */
  evaluate(subject: JsonLike): Value
}

/** The message is kube-apiserver's, without the expression. */
export class ExpressionFailed extends Error {
  override readonly name = 'ExpressionFailed'
}

/** Why an expression is refused. */
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
