/**
 * Finds out whether the schema of a custom resource has something anywhere in it, so that a walk can skip values that
 * cannot have it.
 */
import type { HeldAs, Structural, StructType } from './structural.ts'

/** Types that are asked for one answer. A definition has up to sixty thousand, of which a value has some. */
const MOST_ASKED = 1024

/** @returns answers for a type and all that it holds, each type once; true where there is more than is asked */
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

/** kube-apiserver's own code fills in and validates a Go struct (the metadata of a custom resource), and no schema does. */
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
