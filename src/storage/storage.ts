/**
 * The storage contract: ordered keys, bytes, labels and revisions. Storage knows no kinds. It promises the properties
 * on which clients of Kubernetes rely: revisions of a shard grow strictly, a list is an exact snapshot, a watch neither
 * skips nor repeats nor reorders. One suite (test/storage-suite) holds every implementation to it.
 */
import type { WatchBuffer } from './watch-buffer.ts'
import type { Selection } from './selection.ts'

/** A version of a shard's state: a hybrid-logical-clock integer below 2^53. Outside it is decimal text. */
export type Revision = number

/** Where a resource type lives: the Durable Object and the first part of its keys in it. */
export interface Collection {
  readonly tenant: string
  readonly shard: string
  /** `pods`, `deployments.apps`: keys are `PREFIX/NAMESPACE/NAME`, or `PREFIX/NAME` for cluster-scoped types. */
  readonly prefix: string
}

/** The values that selections use, in a narrow table beside the objects. */
export interface Selectable {
  readonly labels?: Readonly<Record<string, string>>
  readonly fields?: Readonly<Record<string, string>>
  /** UIDs of owners, for garbage collection. */
  readonly owners?: readonly string[]
}

/** Work for controllers that a write brings with it: stored in the same transaction, delivered at least once. */
export interface OutboxMessage {
  readonly topic: string
  readonly payload: string
  /** The payload names a future moment: a shard need not deliver it again, even after it was delivered. */
  readonly once?: true
}

/** A value to be written: JSON text without its revision, which the shard inserts as decimal digits at `at`. */
export interface NewValue extends Selectable {
  readonly text: string
  /** UTF-16 offset in `text` of the (empty) resourceVersion string's content. */
  readonly at: number
  /** `metadata.uid`. By it the shard recognises a create that is sent again because its answer was lost. */
  readonly uid: string
  readonly outbox?: readonly OutboxMessage[]
}

export interface KeyedValue {
  /** With the collection's prefix. */
  readonly key: string
  readonly value: NewValue
}

export interface StoredValue {
  readonly revision: Revision
  /** JSON text with its own resourceVersion in it. */
  readonly text: string
  /** It is stored otherwise than it would be now (another encryption key): an update writes it even where nothing changes. */
  readonly isStale?: boolean
}

/** How fresh a list must be, after resourceVersion and resourceVersionMatch were checked. */
export type ListAt =
  | { readonly kind: 'latest' }
  | { readonly kind: 'notOlderThan'; readonly revision: Revision }
  | { readonly kind: 'exact'; readonly revision: Revision }

/**
 * How the values of a list are written one after the other. `lines`: each JSON text followed by a newline. `items`:
 * the elements of a JSON array without its brackets, `without` cut from the beginning of each text that begins with
 * it, which makes `{"kind":"Pod","apiVersion":"v1",…}` the `{…}` that lists contain (`without` includes the brace,
 * which stays). `members`: likewise, of one member each: the JSON object that follows `before`, with which every text
 * begins, between `head` and `tail`.
 */
export type ListShape =
  | { readonly as: 'lines' }
  | { readonly as: 'items'; readonly without?: string }
  | { readonly as: 'members'; readonly before: string; readonly head: string; readonly tail: string }

export interface ListQuery {
  readonly namespace?: string
  readonly selection: Selection
  readonly at: ListAt
  /** Absent: lines. */
  readonly shape?: ListShape
  /** The caller opens values that are sealed (see sealing); others get StorageError Sealed where there are any. */
  readonly opens?: boolean
  /** 0 or absent: everything. */
  readonly limit?: number
  /** Whether how many it is must be known before the values: that is a walk over all keys. */
  readonly counted?: boolean
  /**
   * Full key (behind the prefix and its slash) to begin at, inclusive: `NAMESPACE/NAME\u0000`. A list that begins
   * somewhere goes on with an earlier one: at a revision older than the retention it is Compacted even when the shard
   * has had no writes, because clients rely on old continue tokens to expire.
   */
  readonly start?: string
}

/** An exact snapshot, streamed. Everything but the values is known when it begins. */
export interface ListResult {
  readonly revision: Revision
  /** Key of the last item of this page when more follow, relative to the prefix. */
  readonly continueAfter?: string
  /** How many follow this page; known only without label or field selectors. */
  readonly remaining?: number
  readonly isEmpty: boolean
  /** Of pages and selections, and where it was asked for. */
  readonly count?: number
  /**
   * The values in the shape asked for; chunks end anywhere. To be read to the end or cancelled: an open one keeps the
   * shard awake.
   */
  readonly values: ReadableStream<Uint8Array>
}

export interface WatchQuery {
  readonly namespace?: string
  readonly selection: Selection
  /**
   * `undefined`: existing objects first, as ADDED in key order, then a `synced` mark, then later events. A revision:
   * everything after it, in order of revision.
   */
  readonly from?: Revision
  /** As for lists. */
  readonly opens?: boolean
  /** Initial events not older than this revision (only without `from`). */
  readonly notOlderThan?: Revision
  /** Bounds the waiting events of all watches that share it. */
  readonly buffer?: WatchBuffer
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** An item of a watch. `event.text` is the JSON text of the object, with the event's revision as resourceVersion. */
export type WatchMessage =
  | { readonly kind: 'event'; readonly type: WatchEventType; readonly revision: Revision; readonly text: string }
  | WatchMark

export type WatchMark =
  /** The initial events are over, at this revision. */
  | { readonly kind: 'synced'; readonly revision: Revision }
  /** All up to this revision was sent. */
  | { readonly kind: 'progress'; readonly revision: Revision }

/**
 * The events of one turn of the shard, perhaps with a mark after them. Iterating parses them; a watch of JSON in the
 * storage version forwards `lines` as they are instead.
 */
export interface WatchBatch extends Iterable<WatchMessage> {
  /** The events as UTF-8: each `{"type":"ADDED","object":…}` and a newline. Empty when there is only a mark. */
  readonly lines: Uint8Array
  readonly mark?: WatchMark
}

export interface Watch {
  /**
   * Ends when the watch was cancelled. Fails with StorageError Compacted when the shard dropped the next event, and
   * with Overloaded when more than a few megabytes wait for the client.
   */
  readonly messages: AsyncIterable<WatchBatch>
  /** Asks for a `progress` message without waking the shard. */
  ping(): void
  cancel(): void
}

/** A shard as a whole, with all resource types that live in it. */
export type ShardName = Pick<Collection, 'tenant' | 'shard'>

/** The input of caches of configuration: see Storage.changes. */
export interface ShardChanges {
  /** Everything up to here is included. */
  readonly revision: Revision
  /**
   * True: this begins anew with all existing objects, because `since` was absent or compacted. The caller forgets its
   * earlier state.
   */
  readonly reset: boolean
  /**
   * There are more changes: the caller asks again with `revision`, and with `resetAt` if it is set. See change-pages.
   */
  readonly more: boolean
  /**
   * This page and the following ones tell a state from its beginning, which was at this revision. Objects of earlier
   * releases have none.
   */
  readonly resetAt?: Revision
  /** In order of revision, each key once. `key` begins with the collection's prefix; without text it is gone. */
  readonly changed: readonly { readonly key: string; readonly revision: Revision; readonly text?: string }[]
}

/** Names a restore: of two the later one is greater. */
export type RestoreId = number

/** An object in a backup, with its version. */
export interface RestoredValue {
  readonly key: string
  readonly revision: Revision
  readonly value: NewValue
}

export interface Storage {
  get(collection: Collection, key: string, notOlderThan?: Revision): Promise<StoredValue | undefined>
  /** @throws StorageError KeyExists, TooLarge */
  create(collection: Collection, key: string, value: NewValue): Promise<StoredValue>
  /** One call for many: creates those whose (whole) keys do not exist. @throws StorageError TooLarge */
  createMissing(shard: ShardName, values: readonly KeyedValue[]): Promise<void>
  /** @throws StorageError KeyNotFound, Conflict, TooLarge */
  update(collection: Collection, key: string, value: NewValue, expected: Revision): Promise<StoredValue>
  /** `last` is the state that DELETED events show. @throws StorageError KeyNotFound, Conflict */
  delete(collection: Collection, key: string, last: NewValue, expected: Revision): Promise<StoredValue>
  /** @throws StorageError Compacted, FutureRevision */
  list(collection: Collection, query: ListQuery): Promise<ListResult>
  /** @throws StorageError Compacted, FutureRevision */
  watch(collection: Collection, query: WatchQuery): Promise<Watch>
  /** The newest revision of the collection's shard. */
  revision(collection: Collection): Promise<Revision>
  /** A page of the latest state of everything that changed in a shard after `since`, or of all existing objects. */
  changes(shard: ShardName, since?: Revision, resetAt?: Revision): Promise<ShardChanges>
  /**
   * From here on until `unlock` all calls but those of the restore fail with Restoring, and watches have ended.
   * @param unchangedSince nothing was written since: otherwise the shard stays unlocked
   * @throws StorageError Superseded, Conflict
   */
  lock(shard: ShardName, restore: RestoreId, unchangedSince?: Revision): Promise<void>
  /** Of a locked shard. @throws StorageError Superseded */
  lockedKeys(collection: Collection, restore: RestoreId): Promise<readonly string[]>
  /** Forgets everything of a locked shard, its history too. @throws StorageError Superseded */
  clear(shard: ShardName, restore: RestoreId): Promise<void>
  /** Puts objects of a backup into a locked shard, with their versions. @throws StorageError Superseded */
  restore(collection: Collection, restore: RestoreId, values: readonly RestoredValue[]): Promise<void>
  /** Nothing before `cut`, or before this moment, can be asked for any more. @throws StorageError Superseded */
  unlock(shard: ShardName, restore: RestoreId, cut: Revision): Promise<void>
  /**
   * Keeps what is readable at a revision for so many milliseconds from now: 0 ends it.
   * @param holder has one revision at a time; others hold theirs
   */
  hold(shard: ShardName, holder: string, revision: Revision, milliseconds: number): Promise<void>
}
