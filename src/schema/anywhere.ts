/** Searches the schema of a custom resource for a property, so that walks can skip values whose type lacks it. */
import type { HeldAs, Structural, StructType } from './structural.ts'

/** The most types that one search visits. A definition declares up to sixty thousand, and a value uses few of them. */
const MOST_ASKED = 1024

/**
 * The search asks `is` once for each type.
 * @returns a function that is true where a type or one inside of it passes `is`, or where MOST_ASKED ends the search
 */
export function isAnywhereIn(is: (type: Structural) => boolean): (type: Structural) => boolean {
  const known = new WeakMap<Structural, boolean>()
  let left = MOST_ASKED
  const answer = (type: Structural): boolean => {
    let found = known.get(type)
    if (found === undefined) {
      if (--left < 0 || (type.shape === 'struct' && (type.width ?? 0) > left)) return true
      known.set(type, false) // a type may contain itself
      found = is(type) || partsOf(type).some(answer)
      known.set(type, found)
    }
    return found
  }
  return (type) => {
    left = MOST_ASKED
    return answer(type)
  }
}

/**
 * The metadata of a custom resource is a Go struct. kube-apiserver defaults and validates it in code, without a schema.
 */
const memberTypes = {
  typed: () => [],
  unstructured: ({ fields }) => fields.map(({ type }) => type),
} satisfies Record<HeldAs, (type: StructType) => readonly Structural[]>

function partsOf(type: Structural): readonly Structural[] {
  switch (type.shape) {
    case 'struct':
      return memberTypes[type.heldAs](type)
    case 'list':
      return [type.element]
    case 'map':
      return [type.value]
    default:
      return []
  }
}
