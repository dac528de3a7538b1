/** Reads that work of one batch shares: the first who needs something reads it. */
import type { ControllerContext } from './controller.ts'

export function onceEach(): ControllerContext['once'] {
  // Bound: what one batch of work reads; gone with it
  const reads = new Map<string, Promise<unknown>>()
  return <Found>(what: string, read: () => Promise<Found>): Promise<Found> => {
    const known = reads.get(what) ?? read()
    reads.set(what, known)
    return known as Promise<Found> // the same text stands for the same read
  }
}
