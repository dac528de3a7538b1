import type { ScopedResourceSelectorRequirement } from '../../api/core/v1.ts'

/**
 * Matches a requirement against the object's values of a scope. NotIn and DoesNotExist match an object without values;
 * other operators do not.
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
