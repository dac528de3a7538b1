/**
 * A resource is built in or defined by a CustomResourceDefinition; both implement `Resource` and `Serving`
 * (src/registry/resource.ts, serving.ts). Code that tests which of the two it has, instead of calling a member, is a
 * third place that knows the difference. This check finds such tests: reads of `definition` of a ResourceEntry, and
 * comparisons with one of the two servings. The same rule holds for types, whose operations come from a table by
 * `heldAs` (src/schema/structural.ts): no code compares `heldAs`.
 */
import type { Checker, Type } from 'typescript/unstable/sync'
import type { Node, SourceFile } from 'typescript/unstable/ast'
import { SyntaxKind } from 'typescript/unstable/ast'
import {
  isBinaryExpression,
  isBindingElement,
  isIdentifier,
  isObjectBindingPattern,
  isPropertyAccessExpression,
  isSwitchStatement,
} from 'typescript/unstable/ast/is'
import type { Finding } from './own-keys.ts'

/** The places that may test it, each with its reason. Entries may only be removed. */
export const askers: ReadonlyMap<string, string> = new Map([
  ['src/registry/resource-of.ts', 'chooses the implementation'],
  ['src/registry/served/resources.ts', 'leaves the definition out of what is said of an entry as JSON'],
])

/** The member of an entry that holds its CustomResourceDefinition. */
const MEMBER = 'definition'
const SERVINGS: ReadonlySet<string> = new Set(['builtInServing', 'customServing'])

export function implementationQuestionsOf(file: SourceFile, checker: Checker): Finding[] {
  const found: Node[] = []
  const looks: { readonly node: Node; readonly owner: Node }[] = []
  const visit = (node: Node): void => {
    if (isPropertyAccessExpression(node) && node.name.text === MEMBER) looks.push({ node, owner: node.expression })
    if (isBindingElement(node) && isObjectBindingPattern(node.parent) && nameOf(node) === MEMBER)
      looks.push({ node, owner: node.parent })
    if (isBinaryExpression(node) && comparisons.has(node.operatorToken.kind))
      if ([node.left, node.right].some((side) => isServing(side) || isHeldAs(side))) found.push(node)
    if (isSwitchStatement(node) && isHeldAs(node.expression)) found.push(node.expression)
    node.forEachChild(visit)
  }
  visit(file)
  const types = looks.length === 0 ? [] : checker.getTypeAtLocation(looks.map(({ owner }) => owner))
  for (const [index, { node }] of looks.entries()) {
    if (isEntry(types[index], checker)) found.push(node)
  }
  const starts = file.getLineStarts()
  return found.map((node) => {
    const start = node.getStart(file)
    const line = starts.findLastIndex((at) => at <= start) + 1
    const text = file.text.slice(start, node.end)
    return { file: file.fileName, line, text, why: 'make it a member of Resource or Serving, or a table by heldAs' }
  })
}

const isServing = (node: Node): boolean => isIdentifier(node) && SERVINGS.has(node.text)
const isHeldAs = (node: Node): boolean => isPropertyAccessExpression(node) && node.name.text === 'heldAs'

/** Recognizes an entry by three members. `entry?.definition` has the type of an entry or undefined. */
function isEntry(type: Type | undefined, checker: Checker): boolean {
  if (type === undefined) return false
  if (type.isUnionType()) return type.getTypes().some((part) => isEntry(part, checker))
  return ['serving', 'listKind', MEMBER].every((name) => checker.getPropertyOfType(type, name) !== undefined)
}

const comparisons: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
])

/** The name of the property that is read: `definition` in `{ definition: one }`. */
const nameOf = (node: Node): string | undefined => {
  if (!isBindingElement(node)) return undefined
  const name = node.propertyName ?? node.name
  return name !== undefined && isIdentifier(name) ? name.text : undefined
}

/**
 * Problems: tests elsewhere, and listed places that no longer test.
 * @param nameOfFile the name of a file in `askers`
 */
export function implementationProblems(found: readonly Finding[], nameOfFile: (file: string) => string): string[] {
  const seen = new Set(found.map(({ file }) => nameOfFile(file)))
  return [
    ...found
      .filter(({ file }) => !askers.has(nameOfFile(file)))
      .map(({ file, line, text, why }) => `${nameOfFile(file)}:${line}: ${text} — ${why}`),
    ...[...askers.keys()]
      .filter((file) => !seen.has(file))
      .map((file) => `${file}: asks no more; leave it out of test/check/two-implementations.ts`),
  ]
}
