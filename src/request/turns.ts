/** How the work of a request shares the thread: that of a large one gives others their turn, a small one's is done at once. */
import { inPartsAwaiting } from '../api/parts.ts'
import type { Steps } from '../api/slices.ts'
import { atOnce, inTurns, turnOfOthers } from '../api/slices.ts'
import type { ApiCall } from './context.ts'

type Sized = { readonly isLarge?: ApiCall['isLarge'] | undefined }

export const finished = <T>({ isLarge }: Sized, steps: Steps<T>): T | Promise<T> =>
  isLarge ? inTurns(steps) : atOnce(steps)

/** A walk over objects of the request (api/parts.ts). */
export const walked = <T>({ isLarge }: Sized, run: () => T | Promise<T>): T | Promise<T> =>
  isLarge ? inPartsAwaiting(run, turnOfOthers) : run()
