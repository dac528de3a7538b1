import type { ApiCall } from '../../request/context.ts'
import { noteFault } from '../../request/fault.ts'
import { StorageError } from '../../storage/errors.ts'

/** Gives back reservations and charges of a failed write. */
export type Undo = () => Promise<void>

/**
 * Runs all of them, even if some fail. It logs a failure and does not throw, because the answer is the error of the
 * write. The quota controller and the allocators later find reservations that remain.
 */
export async function undoAll(undos: readonly Undo[], call: ApiCall): Promise<void> {
  for (const undo of undos)
    try {
      await undo()
    } catch (failure) {
      noteFault('undo', failure, call)
    }
}

/**
 * Gives back the reservations of a failed write. If the outcome of the write is unknown, the object may exist and need
 * them, so they stay.
 */
export async function undoing<Result>(call: ApiCall, write: () => Promise<Result>, undo: Undo): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (!(error instanceof StorageError && error.code === 'Uncertain')) await undoAll([undo], call)
    throw error
  }
}
