/**
 * A promise without an awaiter loses its error, and on Workers its work may end with the request. This check finds
 * statements that consist of a promise only. Each promise must be awaited, returned, stored, or marked with `void`,
 * which says that other code handles its errors.
 */
import type { Checker, Type } from 'typescript/unstable/sync'
import type { ExpressionStatement, Node, SourceFile } from 'typescript/unstable/ast'
import { SyntaxKind } from 'typescript/unstable/ast'
import { isBinaryExpression, isCallExpression, isPropertyAccessExpression } from 'typescript/unstable/ast/is'
import type { Finding } from './own-keys.ts'

/** Only expressions of these kinds can be a promise. */
const makers: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.CallExpression,
  SyntaxKind.ConditionalExpression,
  SyntaxKind.BinaryExpression,
  SyntaxKind.NewExpression,
  SyntaxKind.Identifier,
])

export function floatingPromisesOf(file: SourceFile, checker: Checker): Finding[] {
  const statements: ExpressionStatement[] = []
  const visit = (node: Node): void => {
    if (node.kind === SyntaxKind.ExpressionStatement) {
      const statement = node as ExpressionStatement
      const { expression } = statement
      if (makers.has(expression.kind) && !isAssignment(expression) && !handlesErrors(expression))
        statements.push(statement)
    }
    node.forEachChild(visit)
  }
  visit(file)
  if (statements.length === 0) return []
  const types = checker.getTypeAtLocation(statements.map(({ expression }) => expression))
  const starts = file.getLineStarts()
  return statements.flatMap((statement, index) => {
    if (!isPromise(types[index], checker)) return []
    const start = statement.getStart(file)
    const line = starts.findLastIndex((at) => at <= start) + 1
    const text = file.text.slice(start, statement.end).split('\n')[0]!
    return [{ file: file.fileName, line, text, why: 'await the promise, return it, or say void' }]
  })
}

/** `promise.catch(handler)`, `promise.then(next, handler)` */
function handlesErrors(node: Node): boolean {
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return false
  const { text } = node.expression.name
  return (text === 'catch' && node.arguments.length > 0) || (text === 'then' && node.arguments.length > 1)
}

function isAssignment(node: Node): boolean {
  if (!isBinaryExpression(node)) return false
  const { kind } = node.operatorToken
  return kind >= SyntaxKind.FirstAssignment && kind <= SyntaxKind.LastAssignment
}

function isPromise(type: Type | undefined, checker: Checker): boolean {
  if (type === undefined) return false
  if (type.isUnionType()) return type.getTypes().some((part) => isPromise(part, checker))
  return checker.getPropertyOfType(type, 'then') !== undefined
}
