/**
 * A request may be slow: its body, or a webhook, takes its time. When a restore has replaced all objects meanwhile, it is no
 * longer known whether the request may do what it was authorized for. So it does not.
 *
 * A restore holds every shard locked for longer than UNCHECKED and the age of the oldest snapshot in use together. So a
 * request that is younger than UNCHECKED writes before the restore, or into a locked shard, which refuses it. A write that
 * is so long on its way that it arrives after the restore has the time at which it began, and the shard refuses it
 * (durable-objects/restore-lock.ts).
 */
import { isRecent } from '../base/clock.ts'
import type { ApiCall } from '../request/context.ts'
import { StorageError } from '../storage/errors.ts'
import { controlSnapshot } from './control-snapshot.ts'
import { credentialEpoch } from './credential-writes.ts'

/** Milliseconds. */
export const UNCHECKED = 1_000

/**
 * Called before the call writes.
 * @throws StorageError Restoring where the control plane was restored since the call was authorized
 */
export function checkSameEpoch(call: ApiCall): void | Promise<void> {
  if (call.epoch === undefined) return
  compare(call, call.epoch)
  if (!isRecent(call.now.getTime(), call.clock(), UNCHECKED)) return checkBySnapshot(call, call.epoch)
}

async function checkBySnapshot(call: ApiCall, epoch: number): Promise<void> {
  // fetching it would find out
  await controlSnapshot(call)
  compare(call, epoch)
}

function compare({ tenant }: ApiCall, epoch: number): void {
  if (credentialEpoch(tenant) !== epoch) throw new StorageError('Restoring')
}
