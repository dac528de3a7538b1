/**
 * A resource is built in or of a CustomResourceDefinition, and both are implementations of `Resource` and `Serving`
 * (src/registry/resource.ts, serving.ts). Code that asks which of the two it has before it, instead of a member, is a
 * third place that knows what differs. This check finds such questions: looks at `definition` of a ResourceEntry,
 * and comparisons with one of the two servings. So it is with types, whose operations are chosen from a table of both by
 * `heldAs` (src/schema/structural.ts): nothing compares that.
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

/** Where the question is asked, each place with the reason. The list only becomes shorter. */
export const askers: ReadonlyMap<string, string> = new Map([
  ['src/registry/resource-of.ts', 'chooses the implementation'],
  ['src/registry/resources.ts', 'leaves the definition out of what is said of an entry as JSON'],
])

/** The value of the definition that an entry is made of. */
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

/** By its members: an entry has these three. `entry?.definition` is of an entry or undefined. */
function isEntry(type: Type | undefined, checker: Checker): boolean {
  if (type === undefined) return false
  if (type.isUnionType()) return type.getTypes().some((part) => isEntry(part, checker))
  return ['serving', 'listKind', MEMBER].every((name) => checker.getPropertyOfType(type, name) !== undefined)
}

const comparisons: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
])

/** Of the property that is taken: `definition` in `{ definition: one }`. */
const nameOf = (node: Node): string | undefined => {
  if (!isBindingElement(node)) return undefined
  const name = node.propertyName ?? node.name
  return name !== undefined && isIdentifier(name) ? name.text : undefined
}

/**
 * What is wrong: questions elsewhere, and places that ask no more.
 * @param nameOfFile a file as `askers` names it
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
