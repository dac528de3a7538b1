/**
 * A validator walks a client's list in parts: other requests have a turn in between, and it stops at the number of
 * errors that an answer reports (`errorsOf`, src/validation/errors-of.ts). This check finds lists of unbounded length
 * that a validator walks in one go: `list.flatMap` that makes errors, and `list.forEach` that adds errors to a list.
 *
 * Lists written in the code are short: tuples, elements of a closed type, constants in capitals. The check ignores
 * lists that a call returns. Where a list is short for another reason, a comment on the line or above it says why: `//
 * few: REASON`.
 */
import { TypeFlags } from 'typescript/unstable/sync'
import type { Checker } from 'typescript/unstable/sync'
import { SyntaxKind } from 'typescript/unstable/ast'
import type { CallExpression, Node, SourceFile } from 'typescript/unstable/ast'
import {
  isArrayLiteralExpression,
  isBinaryExpression,
  isCallExpression,
  isIdentifier,
  isParenthesizedExpression,
  isPropertyAccessExpression,
} from 'typescript/unstable/ast/is'
import { isOpenList } from './open-lists.ts'
import type { Finding } from './own-keys.ts'

const ALLOWED = /\/\/ few: \S/
const IN_CAPITALS = /^[A-Z][A-Z0-9_]*$/
const ADDS_ERRORS = /\b(?:append\((?:errors|wrong)\b|(?:errors|wrong)\.push\()/
const ERRORS = /^(?:readonly )?FieldError\[\]$/

export function loopsAtOnceOf(file: SourceFile, checker: Checker): Finding[] {
  const loops: { readonly call: CallExpression; readonly list: Node }[] = []
  const visit = (node: Node): void => {
    if (isCallExpression(node) && isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression
      const list = listOf(expression)
      const adds = name.text === 'forEach' && ADDS_ERRORS.test(node.getText(file))
      if ((name.text === 'flatMap' || adds) && !isCallExpression(list) && !isArrayLiteralExpression(list))
        loops.push({ call: node, list })
    }
    node.forEachChild(visit)
  }
  visit(file)
  if (loops.length === 0) return []
  const lists = checker.getTypeAtLocation(loops.map(({ list }) => list))
  const made = checker.getTypeAtLocation(loops.map(({ call }) => call))
  const lines = file.text.split('\n')
  const starts = file.getLineStarts()
  return loops.flatMap(({ call, list }, index) => {
    const [type, answer] = [lists[index], made[index]]
    if (type === undefined || answer === undefined || !isOpenList(type, checker)) return []
    if (isIdentifier(list) && IN_CAPITALS.test(list.text)) return []
    const isErrors = ERRORS.test(checker.typeToString(answer)) || (answer.flags & TypeFlags.Void) !== 0
    if (!isErrors) return []
    const line = starts.findLastIndex((start) => start <= list.getStart(file))
    if (ALLOWED.test(lines[line]!) || ALLOWED.test(lines[line - 1] ?? '')) return []
    const text = file.text.slice(call.getStart(file), call.expression.end).replaceAll(/\s+/g, ' ')
    return [{ file: file.fileName, line: line + 1, text, why: 'look at it with errorsOf, in parts' }]
  })
}

/** `list` of `(list ?? [])` */
function listOf(node: Node): Node {
  if (isParenthesizedExpression(node)) return listOf(node.expression)
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.QuestionQuestionToken) return listOf(node.left)
  return node
}
