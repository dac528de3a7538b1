/**
 * Memory that works of controllers hold in lists. Users choose how many objects there are, and how large they are, and
 * the isolate's memory is that of all. So large lists share room, which a work has until it ends. The work of a list
 * that finds none fails, and is tried again; that of other namespaces goes on.
 */
import { charactersOf } from '../../base/bounded-map.ts'
import { MANY_VALUES } from '../../base/slices.ts'
import { hasMoreValues } from '../../json/many-values.ts'

/** Units that each work may hold beside. A unit is about a byte of V8's heap. */
export const FREE = 512 * 1024
/** The part of the room that one namespace may have. */
const OF_ONE = 3 / 4

const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b]
const OF_MEMBER = 8
const OF_STRUCTURE = 24

/** Units that the parsed form of a JSON text takes. A sign within a string counts as well. */
export function unitsOfText(text: string): number {
  let units = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === COMMA) units += OF_MEMBER
    else if (code === BRACE || code === BRACKET) units += OF_STRUCTURE
  }
  return units
}

/** Units of a part of an object. @param whole those of the whole object */
export const unitsOfPart = (part: object, whole: number): number =>
  hasMoreValues(part, MANY_VALUES) ? whole : charactersOf(part) * 2

/** The list would take memory that others need. */
export class TooMuchListed extends Error {
  override readonly name = 'TooMuchListed'

  constructor(resource: string, namespace: string) {
    super(`the ${resource} in namespace ${namespace} are too large to be handled together`)
  }
}

/** What one work holds. */
export interface WorkRoom {
  /** @throws TooMuchListed */
  take(units: number, resource: string, namespace: string): void
  leave(): void
}

export class ListRoom {
  private held = 0
  /** Units by namespace. Bound: namespaces whose work is under way. */
  private readonly ofNamespace = new Map<string, number>()

  /** @param most units of all works together, beside what is free for each */
  constructor(private readonly most: number) {}

  begin(): WorkRoom {
    let free = FREE
    /** Bound: the namespaces of one work. */
    const taken = new Map<string, number>()
    return {
      take: (units, resource, namespace) => {
        const more = Math.max(0, units - free)
        free -= units - more
        if (more === 0) return
        const ofNamespace = this.ofNamespace.get(namespace) ?? 0
        if (this.held + more > this.most || ofNamespace + more > this.most * OF_ONE)
          throw new TooMuchListed(resource, namespace)
        this.add(namespace, more)
        taken.set(namespace, (taken.get(namespace) ?? 0) + more)
      },
      leave: () => {
        for (const [namespace, units] of taken) this.add(namespace, -units)
        taken.clear()
      },
    }
  }

  private add(namespace: string, units: number): void {
    this.held += units
    const sum = (this.ofNamespace.get(namespace) ?? 0) + units
    if (sum === 0) this.ofNamespace.delete(namespace)
    else this.ofNamespace.set(namespace, sum)
  }
}
