import { everyPart } from '../../base/parts.ts'
import { SLICE } from '../../base/slices.ts'

/**
 * Whether two values are equal as JSON, in any order of members. An absent member equals an undefined one. A plan
 * compares a long list in parts.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    const isSame = (item: unknown, at: number): boolean => sameJson(item, b[at])
    return a.length > SLICE ? everyPart(a, isSame) : a.every(isSame)
  }
  const [left, right] = [a, b].map(
    (value) => new Map(Object.entries(value).filter(([, member]) => member !== undefined)),
  )
  return (
    left!.size === right!.size &&
    [...left!].every(([name, member]) => right!.has(name) && sameJson(member, right!.get(name)))
  )
}
