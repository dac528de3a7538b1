/** Reads that the work items of one batch share: the first item that needs a read makes it. */
import { BoundedMap } from '../../base/bounded-map.ts'
import type { ControllerContext } from '../controller.ts'

/** The most kept reads: an object may name ten thousand owners. A dropped read is made again. */
const MOST = 1_000

export function onceEach(): ControllerContext['once'] {
  const reads = new BoundedMap<string, Promise<unknown>>({ entries: MOST })
  return <Found>(what: string, read: () => Promise<Found>): Promise<Found> => {
    const known = reads.get(what) ?? read()
    reads.set(what, known)
    return known as Promise<Found> // equal texts mean the same read
  }
}
