/** The answer of an RPC method: its value, or the error that the caller throws again. */
import { logError } from '../src/log/log.ts'
import { StorageError, databaseFailure } from '../src/storage/errors.ts'
import type { ShardRefusal, ShardReply } from '../src/storage/shards/shard-protocol.ts'

export function reply<Value>(answer: () => Value): ShardReply<Value> {
  try {
    return { value: answer() }
  } catch (error) {
    return failure(error)
  }
}

/**
 * Makes an error a reply. Only StorageErrors and errors of the database are replies; others are faults of the server
 * and stay exceptions.
 */
export function failure(error: unknown): ShardRefusal {
  if (error instanceof StorageError) {
    const { code, revision, current, detail } = error
    return { error: { code, revision, current, detail } }
  }
  const code = databaseFailure(error)
  if (code === undefined) throw error
  logError('the database failed', { code, error })
  return { error: { code, revision: 0, current: 0 } }
}
