/** Finds out whether a type has something anywhere in it, so that a walk can skip values that cannot have it. */
import type { Structural } from './structural.ts'

/** @returns answers for a type and all that it holds, each type once */
export function isAnywhereIn(is: (type: Structural) => boolean): (type: Structural) => boolean {
  const known = new WeakMap<Structural, boolean>()
  const answer = (type: Structural): boolean => {
    let found = known.get(type)
    if (found === undefined) {
      known.set(type, false) // a type may contain itself
      found = is(type) || partsOf(type).some(answer)
      known.set(type, found)
    }
    return found
  }
  return answer
}

function partsOf(type: Structural): readonly Structural[] {
  switch (type.shape) {
    case 'struct':
      return type.fields.map((field) => field.type)
    case 'list':
      return [type.element]
    case 'map':
      return [type.value]
    default:
      return []
  }
}
