/**
 * Work that kube-apiserver's costs leave out. Values share their parts: a list of a list twice, again and again, is built
 * in forty steps and a walk through it meets a billion elements. Elements that are compared or shown and characters
 * that are written count here.
 */

/** An evaluation worked for more than it may spend. */
export class WorkExceeded extends Error {}

/** Of the evaluation that is under way: it is synchronous, so that there is one at a time, or one within another. */
let left = Infinity

/** Of an element that is compared or shown; a character that is written is one. */
const ELEMENT = 5

/** To be called before they are visited. @throws WorkExceeded */
export const visit = (elements: number): void => work(elements * ELEMENT)

/** To be called before it is done. @throws WorkExceeded */
export function work(units: number): void {
  left -= units
  if (left < 0) throw new WorkExceeded()
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

/** Of the evaluation that is under way, for one that stops and goes on. */
export const workLeft = (): number => left

export function resumeWork(before: number): void {
  left = before
}
