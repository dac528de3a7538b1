/** The calls of the two Durable Object classes. A Worker's bindings have these types and not the classes. */
import type { GroupResource } from '../../api/group-version.ts'
import type { OutboxReceiver, ShardRefusal, ShardReply, ShardStats, StoredText, Several } from './shard-protocol.ts'
import type { Attempt, ShardWrite, Written } from './shard-protocol.ts'
import type { KeyedValue, NewValue, RestoredValue, RestoreId, Revision, ShardChanges, StoredValue } from '../storage.ts'

/** An object may answer at once; for its caller the answer is always a promise. */
type Answer<Value> = Value | Promise<Value>

/** `depth`: see call-depth.ts. Objects pass it, Workers do not. */
export interface ShardCalls extends Rpc.DurableObjectBranded {
  check(): Answer<string | undefined>
  /** @param asText asks for a StoredText; objects of an earlier release ignore it */
  get(
    key: string,
    notOlderThan: Revision,
    keep: boolean,
    asText?: boolean,
    depth?: number,
  ): Answer<ShardReply<StoredValue | undefined> | StoredText | undefined>
  occupied(prefix: string, namespaces: readonly string[], depth?: number): Answer<ShardReply<readonly string[]>>
  several(prefix: string, keys: readonly string[], depth?: number): Answer<ShardReply<Several>>
  /** @param begun as in ShardWrite */
  create(key: string, value: NewValue, attempt: Attempt, begun?: number, depth?: number): Answer<ShardReply<Written>>
  createMissing(values: readonly KeyedValue[], attempt: Attempt, depth?: number): Answer<ShardReply<null>>
  update(
    key: string,
    value: NewValue,
    expected: Revision,
    attempt: Attempt,
    begun?: number,
    depth?: number,
  ): Answer<ShardReply<Written>>
  delete(
    key: string,
    last: NewValue,
    expected: Revision,
    attempt: Attempt,
    begun?: number,
    depth?: number,
  ): Answer<ShardReply<Written>>
  writeTogether(writes: readonly ShardWrite[], attempt: Attempt, depth?: number): Answer<readonly ShardReply<Written>[]>
  lockForRestore(restore: RestoreId, unchangedSince?: Revision): Answer<ShardReply<null>>
  lockedKeys(prefix: string, restore: RestoreId): Answer<ShardReply<readonly string[]>>
  clearForRestore(restore: RestoreId, first?: readonly RestoredValue[]): Answer<ShardReply<null>>
  restoreValues(restore: RestoreId, values: readonly RestoredValue[]): Answer<ShardReply<null>>
  unlockRestored(restore: RestoreId, cut: Revision): Answer<ShardReply<null>>
  hold(revision: Revision, milliseconds: number, holder?: string): Answer<ShardReply<null>>
  renew(since?: Revision, depth?: number): Answer<ShardReply<null>>
  retire(depth?: number): Answer<ShardReply<null>>
  revision(depth?: number): Answer<Revision>
  changes(
    since: Revision | undefined,
    resetAt?: Revision,
    keep?: boolean,
    depth?: number,
  ): Answer<ShardChanges | ShardRefusal>
  stats(): Answer<ShardStats>
  fetch(request: Request): Answer<Response>
}

/** The work of one controller. */
export interface WorkCount extends Record<string, SqlStorageValue> {
  controller: string
  queued: number
  /** Work that has failed and will be tried again. */
  failing: number
  parked: number
}

export interface ControllerCalls extends Rpc.DurableObjectBranded, OutboxReceiver {
  check(): Answer<string | undefined>
  announceOwners(resource: GroupResource, kinds: readonly string[]): Answer<void>
  announceWatch(definition: string, uid: string): Answer<void>
  forget(): Answer<void>
  counts(): Answer<WorkCount[]>
}
