/** Reads that works of one batch share: the first work that needs one makes it. */
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
