import { TypeFlags } from 'typescript/unstable/sync'
import type { Checker, Type, TypeReference } from 'typescript/unstable/sync'

/** An array whose elements are not of a closed set of literals. Strings and tuples do not count. */
export function isOpenList(type: Type, checker: Checker): boolean {
  if (type.isUnionType()) return type.getTypes().some((part) => isOpenList(part, checker))
  if (!checker.isArrayType(type)) return false
  // an array type is a reference to Array or ReadonlyArray with its element type
  const [element] = checker.getTypeArguments(type as TypeReference)
  return element !== undefined && !isClosed(element)
}

const isClosed = (type: Type): boolean =>
  type.isUnionType()
    ? type.getTypes().every(isClosed)
    : (type.flags & (TypeFlags.StringLiteral | TypeFlags.NumberLiteral | TypeFlags.EnumLike)) !== 0
