import type { ScopedResourceSelectorRequirement } from '../../api/core/v1.ts'

/**
 * A requirement on the names that an object has of what a scope is about. Without one only what asks for an absence
 * holds.
 */
export function matchesNames(
  { operator, values = [] }: ScopedResourceSelectorRequirement,
  names: readonly string[],
): boolean {
  const wanted = new Set(values)
  switch (operator) {
    case 'Exists':
      return names.length > 0
    case 'DoesNotExist':
      return names.length === 0
    case 'In':
      return names.some((name) => wanted.has(name))
    case 'NotIn':
      return names.length === 0 || names.some((name) => !wanted.has(name))
    default:
      return false
  }
}
