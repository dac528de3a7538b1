import type { ApiCall } from '../../request/context.ts'
import { noteFault } from '../../request/fault.ts'
import { StorageError } from '../../storage/errors.ts'

/** Takes back what was done beside an object, for a write that fails. */
export type Undo = () => Promise<void>

/**
 * All of them, whatever becomes of each. A failure is noted and never thrown: the answer is the error that led here.
 * What is left taken then is found by who looks after it (the quota controller, the allocators).
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
 * What was taken beside an object is given back when the write fails. Where nobody knows whether it did, the object may
 * be there and need it: it stays taken.
 */
export async function undoing<Result>(call: ApiCall, write: () => Promise<Result>, undo: Undo): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (!(error instanceof StorageError && error.code === 'Uncertain')) await undoAll([undo], call)
    throw error
  }
}
