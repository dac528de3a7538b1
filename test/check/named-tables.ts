/**
 * A resource is defined once, in src/registry/GROUP, and its special behaviour is a member of its definition. A table
 * elsewhere keyed by names of built-in resources or kinds is a second place that a new kind may need. This check finds
 * such tables: objects and lists at module level, Sets, Maps, and the cases of a switch.
 *
 * Some policies concern many kinds by their specification. The list below names the file of each, with the reason;
 * entries may only be removed. docs/extending.md names the policies that may need a new kind.
 */
import { fileURLToPath } from 'node:url'
import { readFileSync } from 'node:fs'
import { SyntaxKind } from 'typescript/unstable/ast'
import type { Node, SourceFile } from 'typescript/unstable/ast'
import {
  isArrayLiteralExpression,
  isArrowFunction,
  isCaseBlock,
  isCaseClause,
  isComputedPropertyName,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isMethodDeclaration,
  isObjectLiteralExpression,
  isShorthandPropertyAssignment,
  isSpreadAssignment,
  isStringLiteral,
} from 'typescript/unstable/ast/is'
import type { Finding } from './own-keys.ts'

const PLUGINS = 'names of admission plug-ins, some of which are those of kinds'
const RBAC = 'RBAC is about its own four kinds'
const NODES = 'what the Node authorizer and NodeRestriction allow to kubelets is a list of resources by specification'
const STORED = 'storage is below the definitions, and a shard knows nothing but its name'
export const policies: ReadonlyMap<string, string> = new Map([
  ['src/storage/collections.ts', STORED],
  ['src/storage/history.ts', STORED],
  [
    'src/tenancy/credential-writes.ts',
    'the objects that src/authentication, below the definitions, looks tokens up in',
  ],
  ['src/tenancy/snapshot-data.ts', 'the two kinds whose names end with a group, which the server knows its groups by'],
  ['src/authorization/node.ts', NODES],
  ['src/authorization/node-relations.ts', NODES],
  ['src/admission/plugins/node-restriction.ts', NODES],
  ['src/authorization/rbac.ts', RBAC],
  ['src/admission/plugins/rbac-escalation.ts', RBAC],
  ['src/admission/chain.ts', PLUGINS],
  ['src/configuration/admission-plugins.ts', PLUGINS],
  ['src/validation/pod/resources.ts', 'names of amounts that a quota may limit'],
])

interface Row {
  readonly group?: string
  readonly resource: string
  readonly kind: string
}

/** Names of resources and kinds, with and without their group. */
const names: ReadonlySet<string> = namesIn(
  // generated, so of this form
  JSON.parse(
    readFileSync(fileURLToPath(new URL('../../src/registry/resources-table.json', import.meta.url).href), 'utf8'),
  ) as {
    readonly resources: readonly Row[]
  },
)

function namesIn({ resources }: { readonly resources: readonly Row[] }): Set<string> {
  return new Set(
    resources.flatMap(({ group = '', resource, kind }) => {
      const plain = [resource, kind]
      return group === '' ? plain : [...plain, ...plain.map((name) => `${name}.${group}`)]
    }),
  )
}

/** `pods`, `Pod`, `deployments.apps`, `pods/exec`, and the model `io.k8s.api.core.v1.Pod`. */
const isName = (text: string): boolean => names.has(modelOf(text) ?? text.split('/', 1)[0]!)

/** The kind of an OpenAPI model. */
const modelOf = (text: string): string | undefined => /^io\.k8s\.[a-z0-9.-]+\.v\w+\.(\w+)$/.exec(text)?.[1]

/**
 * A name with a group or a subresource is unambiguous; other words (`events`, `nodes`) are also fields of many values.
 */
const isCertain = (text: string): boolean => isName(text) && /[./]/.test(text)

/** Tables keyed by resource or kind names in a file, those of policies included. */
export function namedTablesOf(file: SourceFile): Finding[] {
  const found: Finding[] = []
  const starts = file.getLineStarts()
  const visit = (node: Node, isWithin: boolean): void => {
    const keys = keysOf(node, isWithin).filter(isName)
    if (keys.length > 1 || keys.some(isCertain)) {
      const line = starts.findLastIndex((start) => start <= node.getStart(file)) + 1
      const text = `a table by ${keys.slice(0, 3).join(', ')}`
      found.push({ file: file.fileName, line, text, why: 'make it a member of the definitions in src/registry' })
    }
    node.forEachChild((child) => visit(child, isWithin || isFunction(node)))
  }
  visit(file, false)
  return found
}

/**
 * Problems: tables that are not listed as policies, and listed policies that are no longer tables.
 * @param nameOf the name of a file in `policies`
 */
export function namedTableProblems(found: readonly Finding[], nameOf: (file: string) => string): string[] {
  const seen = new Set(found.map(({ file }) => nameOf(file)))
  return [
    ...found
      .filter(({ file }) => !policies.has(nameOf(file)))
      .map(({ file, line, text, why }) => `${nameOf(file)}:${line}: ${text} — ${why}`),
    ...[...policies.keys()]
      .filter((file) => !seen.has(file))
      .map((file) => `${file}: has no table by names any more; leave it out of test/check/named-tables.ts`),
  ]
}

const isFunction = (node: Node): boolean =>
  isArrowFunction(node) || isFunctionExpression(node) || isFunctionDeclaration(node) || isMethodDeclaration(node)

/** @param isWithin whether the node is inside a function, where objects are values with fields and not tables */
function keysOf(node: Node, isWithin: boolean): string[] {
  if (isCaseBlock(node))
    return node.clauses.flatMap((clause) => (isCaseClause(clause) ? textOf(clause.expression) : []))
  if (isWithin) return []
  if (isArrayLiteralExpression(node))
    return node.elements.flatMap((one) =>
      isArrayLiteralExpression(one) && one.elements[0] !== undefined ? textOf(one.elements[0]) : textOf(one),
    )
  if (!isObjectLiteralExpression(node)) return []
  return node.properties.flatMap((property) => {
    if (isSpreadAssignment(property) || isShorthandPropertyAssignment(property)) return []
    const { name } = property
    if (name === undefined || isComputedPropertyName(name)) return []
    return isIdentifier(name) ? [name.text] : textOf(name)
  })
}

const textOf = (node: Node): string[] =>
  isStringLiteral(node) && node.kind === SyntaxKind.StringLiteral ? [node.text] : []
