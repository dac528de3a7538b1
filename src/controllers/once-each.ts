/** Reads that work of one batch shares: the first who needs something reads it. */
import { BoundedMap } from '../api/bounded-map.ts'
import type { ControllerContext } from './controller.ts'

/** An object may name ten thousand owners. What is forgotten is read again. */
const MOST = 1_000

export function onceEach(): ControllerContext['once'] {
  const reads = new BoundedMap<string, Promise<unknown>>({ entries: MOST })
  return <Found>(what: string, read: () => Promise<Found>): Promise<Found> => {
    const known = reads.get(what) ?? read()
    reads.set(what, known)
    return known as Promise<Found> // the same text stands for the same read
  }
}
