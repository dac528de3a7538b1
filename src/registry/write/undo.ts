import type { ApiCall } from '../../request/context.ts'
import { noteFault } from '../../request/fault.ts'
import { StorageError } from '../../storage/errors.ts'

/** Takes back what was done beside an object, for a write that fails. */
export type Undo = () => Promise<void>

/**
 * All of them, whatever becomes of each. A failure is noted and never thrown: the answer is the error that led here.
 * The quota controller and the allocators find later what was not given back.
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
 * Gives back what was taken beside an object if the write fails. If the outcome of the write is unknown, the object may
 * exist and need it: then it stays taken.
 */
export async function undoing<Result>(call: ApiCall, write: () => Promise<Result>, undo: Undo): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (!(error instanceof StorageError && error.code === 'Uncertain')) await undoAll([undo], call)
    throw error
  }
}
