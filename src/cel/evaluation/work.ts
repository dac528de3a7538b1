/**
 * Counts work that kube-apiserver's runtime cost leaves out. Values share their parts: forty nested lists that each
 * hold the one before twice are cheap to build, but a walk through them visits a billion elements. This counts the
 * elements that are compared or formatted, and the characters that are written.
 */

/** An evaluation exceeded its limit of work. */
export class WorkExceeded extends Error {}

/**
 * The work that the current evaluation has left. Evaluations are synchronous: one runs at a time, or one within
 * another.
 */
let left = Infinity

/** Units for an element that is compared or formatted. A written character is one unit. */
const ELEMENT = 5

/** Called before elements are visited. @throws WorkExceeded */
export const visit = (elements: number): void => work(elements * ELEMENT)

/** Called before the work is done. @throws WorkExceeded */
export function work(units: number): void {
  left -= units
  if (left < 0) throw new WorkExceeded()
}

/** Characters of a text that is parsed which count as those of any argument. */
const PARSED = 64 * 1024
/** Units for each further character: a parser of this project goes over each by itself. */
const OF_PARSED = 20

/** Called before a text is parsed as an address, a URL, a version and the like. @throws WorkExceeded */
export function parsing(text: string): string {
  if (text.length > PARSED) work((text.length - PARSED) * OF_PARSED)
  return text
}

/** @throws WorkExceeded */
export function metered<Made>(limit: number, make: () => Made): { readonly made: Made; readonly done: number } {
  const outside = left
  left = limit
  try {
    return { made: make(), done: limit - left }
  } finally {
    left = outside
  }
}

/** The work that the current evaluation has left. An evaluation in steps restores it with resumeWork. */
export const workLeft = (): number => left

export function resumeWork(before: number): void {
  left = before
}
