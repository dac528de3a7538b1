/** Properties of a single node or type that the checker needs. */
import type { Expression } from '../syntax/ast.ts'
import type { Type } from './type.ts'
import { BOOL, BYTES, DOUBLE, INT, NULL, STRING, UINT } from './type.ts'
import { Uint } from '../values/value.ts'

export function literalType(value: Extract<Expression, { kind: 'literal' }>['value']): Type {
  if (value === null) return NULL
  if (value instanceof Uint) return UINT
  if (value instanceof Uint8Array) return BYTES
  switch (typeof value) {
    case 'boolean':
      return BOOL
    case 'bigint':
      return INT
    case 'number':
      return DOUBLE
    case 'string':
      return STRING
  }
}

/**
 * The qualified name `a.b.c` of a node that consists of identifiers and selections only.
 * @param known earlier results: the checker calls this for each node of a chain of selections
 */
export function qualifiedName(node: Expression, known: Map<Expression, string | undefined>): string | undefined {
  if (node.kind === 'identifier') return node.name
  if (node.kind !== 'select' || node.testOnly) return undefined
  if (known.has(node)) return known.get(node)
  const operand = qualifiedName(node.operand, known)
  const name = operand === undefined ? undefined : `${operand}.${node.field}`
  known.set(node, name)
  return name
}

export const optionalContent = (type: Type): Type | undefined =>
  type.kind === 'opaque' && type.name === 'optional_type' ? type.parameters[0] : undefined
