/**
 * `list.includes(x)` inside a loop is quadratic, and a client chooses the length of lists. This check finds searches
 * inside a loop, or inside a function that a list method calls for each element, if the searched list comes from
 * outside the loop. A Set or a Map made before the loop avoids the search.
 *
 * Lists written in the code are short: module constants, in capitals or with elements of a closed type. Where a list is
 * short for another reason, a comment on the line or above it says why: `// few: REASON`.
 */
import { API } from 'typescript/unstable/sync'
import type { Checker } from 'typescript/unstable/sync'
import { SyntaxKind } from 'typescript/unstable/ast'
import type { CallExpression, Node, PropertyAccessExpression, SourceFile } from 'typescript/unstable/ast'
import {
  isArrayLiteralExpression,
  isArrowFunction,
  isAsExpression,
  isBinaryExpression,
  isCallExpression,
  isElementAccessExpression,
  isForInStatement,
  isForOfStatement,
  isForStatement,
  isFunctionExpression,
  isIdentifier,
  isNonNullExpression,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isVariableDeclaration,
  isVariableStatement,
  isWhileStatement,
} from 'typescript/unstable/ast/is'
import { isOpenList } from './open-lists.ts'
import type { Finding } from './own-keys.ts'

const SEARCHES = new Set(
  'find findIndex findLast findLastIndex some every filter includes indexOf lastIndexOf'.split(' '),
)
const EACH = new Set([...SEARCHES, 'map', 'flatMap', 'forEach', 'reduce', 'sort', 'toSorted', 'from'])

/** Methods that return a list with elements of the list they are called on. */
const PARTS = new Set(['slice', 'filter', 'map', 'flatMap', 'concat', 'sort', 'toSorted', 'reverse', 'toReversed'])

const ALLOWED = /\/\/ few: \S/
const IN_CAPITALS = /^[A-Z][A-Z0-9_]*$/

/** Searches inside of loops in the files of these projects. */
export function nestedLookupsIn(configs: readonly string[], includes: (file: string) => boolean): Finding[] {
  const api = new API()
  try {
    const found: Finding[] = []
    for (const project of api.updateSnapshot({ openProjects: [...configs] }).getProjects())
      for (const name of project.rootFiles) {
        const file = includes(name) ? project.program.getSourceFile(name) : undefined
        if (file !== undefined) found.push(...lookupsOf(file, project.checker))
      }
    return found
  } finally {
    api.close()
  }
}

function lookupsOf(file: SourceFile, checker: Checker): Finding[] {
  const searches: CallExpression[] = []
  const constants = constantsOf(file)
  const visit = (node: Node): void => {
    if (isCallExpression(node) && isSearch(node) && isNested(node, constants, file)) searches.push(node)
    node.forEachChild(visit)
  }
  visit(file)
  if (searches.length === 0) return []
  const types = checker.getTypeAtLocation(searches.map((call) => receiverOf(call)))
  const lines = file.text.split('\n')
  const starts = file.getLineStarts()
  return searches.flatMap((call, index) => {
    const type = types[index]
    if (type === undefined || !isOpenList(type, checker)) return []
    const at = receiverOf(call).end
    const line = starts.findLastIndex((start) => start <= at)
    if (ALLOWED.test(lines[line]!) || ALLOWED.test(lines[line - 1] ?? '')) return []
    const text = file.text.slice(call.getStart(file), call.expression.end)
    return [{ file: file.fileName, line: line + 1, text, why: 'make a Set or a Map before the loop' }]
  })
}

const isSearch = ({ expression }: CallExpression): boolean =>
  isPropertyAccessExpression(expression) && SEARCHES.has(expression.name.text)

// isSearch has checked the type
const receiverOf = (call: CallExpression): Node => (call.expression as PropertyAccessExpression).expression

/** Whether the search is inside a loop that does not create the searched list. */
function isNested(call: CallExpression, constants: ReadonlySet<string>, file: SourceFile): boolean {
  const roots = rootsOf(receiverOf(call))
  if (roots.every((name) => IN_CAPITALS.test(name) || constants.has(name))) return false
  for (let node: Node = call; node.parent !== undefined; node = node.parent) {
    const loop = loopAround(node, constants, file)
    if (loop === undefined) continue
    const made = declaredIn(loop, file)
    return !roots.some((name) => made.has(name))
  }
  return false
}

/** The loop whose body contains the node, unless the loop walks over a list written in the code. */
function loopAround(node: Node, constants: ReadonlySet<string>, file: SourceFile): Node | undefined {
  const { parent } = node
  const isShort = (list: Node): boolean => {
    if (isAsExpression(list) || isParenthesizedExpression(list)) return isShort(list.expression)
    if (isArrayLiteralExpression(list)) return !list.elements.some((one) => one.kind === SyntaxKind.SpreadElement)
    return isIdentifier(list) && (IN_CAPITALS.test(list.text) || constants.has(list.text))
  }
  if (isForOfStatement(parent) || isForInStatement(parent))
    return parent.statement === node && !isShort(parent.expression) ? parent : undefined
  if (isForStatement(parent) || isWhileStatement(parent)) return parent
  if (!isArrowFunction(node) && !isFunctionExpression(node)) return undefined
  // a named function inside another function may be the callback of a list method
  if (isVariableDeclaration(parent) && isIdentifier(parent.name))
    return isGivenToEach(parent.name.text, parent, file) ? node : undefined
  if (!isCallExpression(parent) || parent.expression === node) return undefined
  const called = parent.expression
  const isEach = isPropertyAccessExpression(called) && EACH.has(called.name.text) && !isShort(called.expression)
  return isEach ? node : undefined
}

/** Whether the declaration's block passes the function to a list method, as in `list.every(name)`. */
function isGivenToEach(name: string, declaration: Node, file: SourceFile): boolean {
  const block = declaration.parent?.parent?.parent
  return (
    block !== undefined &&
    block.kind === SyntaxKind.Block &&
    new RegExp(`\\.(?:${[...EACH].join('|')})\\(${name}\\)`).test(block.getText(file))
  )
}

/** The names from which an expression takes its list: `a` of `(a.b ?? []).slice(1)`, the arguments of a call. */
function rootsOf(node: Node | undefined): string[] {
  if (node === undefined) return []
  if (isIdentifier(node)) return [node.text]
  if (node.kind === SyntaxKind.ThisKeyword) return ['this']
  if (isPropertyAccessExpression(node) || isParenthesizedExpression(node) || isAsExpression(node))
    return rootsOf(node.expression)
  if (isNonNullExpression(node) || isElementAccessExpression(node)) return rootsOf(node.expression)
  if (isBinaryExpression(node)) return rootsOf(node.left)
  if (!isCallExpression(node)) return []
  const { expression: called } = node
  const ofArguments = node.arguments.flatMap(rootsOf)
  if (!isPropertyAccessExpression(called) || called.expression.getText() === 'Object') return ofArguments
  return PARTS.has(called.name.text) ? rootsOf(called) : [...rootsOf(called), ...ofArguments]
}

/** Names that the file declares outside of functions. */
function constantsOf(file: SourceFile): Set<string> {
  const names = new Set<string>()
  for (const statement of file.statements)
    if (isVariableStatement(statement))
      for (const { name } of statement.declarationList.declarations) if (isIdentifier(name)) names.add(name.text)
  return names
}

/** Names declared within a loop: its variables, parameters and constants. */
function declaredIn(loop: Node, file: SourceFile): Set<string> {
  const names = new Set<string>()
  const visit = (node: Node): void => {
    if (
      node.kind === SyntaxKind.VariableDeclaration ||
      node.kind === SyntaxKind.Parameter ||
      node.kind === SyntaxKind.BindingElement
    ) {
      const { name } = node as unknown as { readonly name?: Node } // holes in patterns have no name
      if (name !== undefined && isIdentifier(name)) names.add(name.getText(file))
    }
    node.forEachChild(visit)
  }
  visit(loop)
  return names
}
