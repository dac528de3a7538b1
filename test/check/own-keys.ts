/**
 * A key that a client chose may be `constructor` or `__proto__`. This check finds operations that would then reach
 * Object.prototype: `key in object`, `object[key]` and Object.assign. src/base/own.ts has safe ones.
 *
 * The check accepts keys whose type is safe: numbers, a closed set of literals, and keys that a loop took from the same
 * object. Where a key is safe for another reason, a comment on the line or above it says why: `// own key: REASON`.
 */
import { API, TypeFlags } from 'typescript/unstable/sync'
import type { Checker, Type } from 'typescript/unstable/sync'
import { SyntaxKind } from 'typescript/unstable/ast'
import type {
  BinaryExpression,
  CallExpression,
  ElementAccessExpression,
  Node,
  SourceFile,
} from 'typescript/unstable/ast'
import {
  isArrayBindingPattern,
  isArrowFunction,
  isAsExpression,
  isCallExpression,
  isComputedPropertyName,
  isForInStatement,
  isForOfStatement,
  isIdentifier,
  isObjectLiteralExpression,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isShorthandPropertyAssignment,
  isNoSubstitutionTemplateLiteral,
  isStringLiteral,
  isVariableDeclarationList,
} from 'typescript/unstable/ast/is'

export interface Finding {
  readonly file: string
  readonly line: number
  readonly text: string
  readonly why: string
}

const ALLOWED = /\/\/ own key: \S/

type Rule = (file: SourceFile, checker: Checker) => Finding[]

/** Findings in the files of these projects, in order: by the rule about keys, or by the given rules. */
export function findingsIn(
  configs: readonly string[],
  includes: (file: string) => boolean,
  rules: readonly Rule[] = [unsafeKeysOf],
): Finding[] {
  const api = new API()
  try {
    const found: Finding[] = []
    for (const project of api.updateSnapshot({ openProjects: [...configs] }).getProjects())
      for (const name of project.rootFiles) {
        const file = includes(name) ? project.program.getSourceFile(name) : undefined
        if (file !== undefined) for (const rule of rules) found.push(...rule(file, project.checker))
      }
    return found
  } finally {
    api.close()
  }
}

export function unsafeKeysOf(file: SourceFile, checker: Checker): Finding[] {
  const suspects: Finding[] = []
  const accesses: ElementAccessExpression[] = []
  const lines = file.text.split('\n')
  const starts = file.getLineStarts()
  const suspect = (node: Node, why: string) => {
    const start = node.getStart(file)
    const line = starts.findLastIndex((at) => at <= start)
    if (ALLOWED.test(lines[line]!) || ALLOWED.test(lines[line - 1] ?? '')) return
    suspects.push({ file: file.fileName, line: line + 1, text: file.text.slice(start, node.end), why })
  }
  const visit = (node: Node): void => {
    if (node.kind === SyntaxKind.BinaryExpression) {
      const { left, operatorToken } = node as BinaryExpression
      if (operatorToken.kind === SyntaxKind.InKeyword && !isHarmlessName(left)) suspect(node, 'use Object.hasOwn')
    } else if (node.kind === SyntaxKind.ElementAccessExpression) {
      // delete removes only own properties
      if (node.parent.kind !== SyntaxKind.DeleteExpression) accesses.push(node as ElementAccessExpression)
    } else if (node.kind === SyntaxKind.CallExpression) {
      const {
        expression,
        arguments: [, ...sources],
      } = node as CallExpression
      if (expression.getText(file) === 'Object.assign' && !sources.every(isPlainLiteral)) suspect(node, 'use a spread')
    }
    node.forEachChild(visit)
  }
  visit(file)
  const types =
    accesses.length === 0
      ? []
      : checker.getTypeAtLocation(accesses.map(({ argumentExpression }) => uncast(argumentExpression)))
  for (const [index, access] of accesses.entries())
    if (!isClosed(types[index], checker) && !isFromLoop(access, file))
      suspect(access, isWritten(access) ? 'use setOwn' : 'use ownValue')
  return suspects
}

/** A literal that Object.prototype does not have, as in `'error' in reply`; `#field in object` ignores prototypes. */
const isHarmlessName = (node: Node): boolean =>
  node.kind === SyntaxKind.PrivateIdentifier ||
  ((isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) && !Object.hasOwn(Object.prototype, node.text))

/** An object literal whose names are in the code, so that `__proto__` cannot come from a client. */
const isPlainLiteral = (node: Node): boolean =>
  isObjectLiteralExpression(node) &&
  node.properties.every(
    (one) => isShorthandPropertyAssignment(one) || (isPropertyAssignment(one) && !isComputedPropertyName(one.name)),
  )

/** Strips the cast of `key as keyof typeof table`, which hides that the key is arbitrary. */
function uncast(node: Node): Node {
  if (isAsExpression(node) || isParenthesizedExpression(node)) return uncast(node.expression)
  return node
}

const CLOSED =
  TypeFlags.NumberLike |
  TypeFlags.ESSymbolLike |
  TypeFlags.StringLiteral |
  TypeFlags.EnumLike |
  TypeFlags.Never |
  TypeFlags.Undefined

function isClosed(type: Type | undefined, checker: Checker): boolean {
  if (type === undefined) return false
  if (type.isUnionType()) return type.getTypes().every((part) => isClosed(part, checker))
  if (type.flags & CLOSED) return true
  if (type.isTypeParameter()) return isClosed(checker.getBaseConstraintOfType(type), checker)
  return false
}

/** `object[key]` inside `for (const key in object)`, or in a loop over `Object.keys(object)` or `eachName(object)`. */
function isFromLoop(access: ElementAccessExpression, file: SourceFile): boolean {
  const key = uncast(access.argumentExpression)
  if (!isIdentifier(key)) return false
  const object = uncast(access.expression).getText(file)
  for (let node: Node | undefined = access.parent; node !== undefined; node = node.parent) {
    if (isForInStatement(node) || isForOfStatement(node)) {
      if (nameIn(node.initializer, file) !== key.text) continue
      return (
        (isForInStatement(node) ? uncast(node.expression).getText(file) : ownerOf(node.expression, file)) === object
      )
    }
    if (isArrowFunction(node) && node.parameters[0]?.name.getText(file) === key.text) {
      if (isCallExpression(node.parent) && /^(eachName|mapNames)$/.test(node.parent.expression.getText(file)))
        return uncast(node.parent.arguments[0]!).getText(file) === object
      return isCallExpression(node.parent) && isPropertyAccessExpression(node.parent.expression)
        ? ownerOf(node.parent.expression.expression, file) === object
        : false
    }
  }
  return false
}

/** The object in `Object.keys(object)`, which may be filtered or sorted. */
function ownerOf(keys: Node, file: SourceFile): string | undefined {
  if (isAsExpression(keys)) return ownerOf(keys.expression, file)
  if (!isCallExpression(keys)) return undefined
  const called = keys.expression
  const [argument] = keys.arguments
  if (/^Object\.(keys|entries)$/.test(called.getText(file))) return argument && uncast(argument).getText(file)
  if (called.getText(file) === 'sortNames') return argument && ownerOf(argument, file)
  if (isPropertyAccessExpression(called) && /^(filter|sort|toSorted)$/.test(called.name.text))
    return ownerOf(called.expression, file)
  return undefined
}

function nameIn(initializer: Node, file: SourceFile): string | undefined {
  if (!isVariableDeclarationList(initializer)) return undefined
  const name = initializer.declarations[0]!.name
  return isArrayBindingPattern(name) ? name.elements[0]?.getText(file) : name.getText(file)
}

function isWritten(access: ElementAccessExpression): boolean {
  const { parent } = access
  if (parent.kind !== SyntaxKind.BinaryExpression) return false
  const { left, operatorToken } = parent as BinaryExpression
  return (
    left === access &&
    operatorToken.kind >= SyntaxKind.FirstAssignment &&
    operatorToken.kind <= SyntaxKind.LastAssignment
  )
}
