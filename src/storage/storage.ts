/**
 * The storage contract: ordered keys, bytes, labels and revisions. Storage knows no kinds. It promises the properties
 * on which clients of Kubernetes rely: revisions of a shard grow strictly, a list is an exact snapshot, a watch neither
 * skips nor repeats nor reorders. One suite (test/storage-suite) holds every implementation to it.
 */
import type { WatchShare } from './watch/watch-room.ts'
import type { Selection } from './selectors/selection.ts'

/** A version of a shard's state: a hybrid-logical-clock integer below 2^53. Outside it is decimal text. */
export type Revision = number

/** Where a resource type is stored: the Durable Object, and the first part of its keys there. */
export interface Collection {
  readonly tenant: string
  readonly shard: string
  /** `pods`, `deployments.apps`: keys are `PREFIX/NAMESPACE/NAME`, or `PREFIX/NAME` for cluster-scoped types. */
  readonly prefix: string
}

/** The values that selections use. They are stored in a narrow table beside the objects. */
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
  /** The payload names a future moment, so the shard need not deliver it twice. */
  readonly once?: true
}

/** A value to be written: JSON text without its revision, which the shard inserts as decimal digits at `at`. */
export interface NewValue extends Selectable {
  readonly text: string
  /** UTF-16 offset in `text` of the (empty) resourceVersion string's content. */
  readonly at: number
  /** `metadata.uid`. By it the shard recognises a create that is repeated because its answer was lost. */
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
  /** JSON text that contains its resourceVersion. */
  readonly text: string
  /** It is stored in an old form (another encryption key), so an update writes it even where nothing changes. */
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
  /** The caller can open sealed values (see sealing). Others get StorageError Sealed where there are any. */
  readonly opens?: boolean
  /** 0 or absent: no limit. */
  readonly limit?: number
  /** Whether the count must be known before the values, which needs a walk over all keys. */
  readonly counted?: boolean
  /**
   * Full key (behind the prefix and its slash) to begin at, inclusive: `NAMESPACE/NAME\u0000`. A list that begins
   * somewhere goes on with an earlier one: at a revision older than the retention it is Compacted even when the shard
   * has had no writes, because clients rely on old continue tokens to expire.
   */
  readonly start?: string
}

/** An exact snapshot, streamed. All but the values is known when the stream begins. */
export interface ListResult {
  readonly revision: Revision
  /** Key of the last item of this page when more follow, relative to the prefix. */
  readonly continueAfter?: string
  /** The number of objects that follow this page. Known only without label or field selectors. */
  readonly remaining?: number
  readonly isEmpty: boolean
  /** Present for pages and selections, and where it was asked for. */
  readonly count?: number
  /**
   * The values in the requested shape; chunks end anywhere. The caller reads it to the end or cancels it, because an
   * open stream keeps the shard awake.
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
  /** As in ListQuery. */
  readonly opens?: boolean
  /** The initial events are not older than this revision (only without `from`). */
  readonly notOlderThan?: Revision
  /** Whose watches count together where there are too many; absent: all that say nothing. */
  readonly owner?: string
  /** Of the room for what watches hold. The watch leaves it at its end. Absent: nobody limits what it holds. */
  readonly share?: WatchShare
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** An item of a watch. `event.text` is the JSON text of the object, with the event's revision as resourceVersion. */
export type WatchMessage =
  | { readonly kind: 'event'; readonly type: WatchEventType; readonly revision: Revision; readonly text: string }
  | WatchMark

export type WatchMark =
  /** The initial events have ended, at this revision. */
  | { readonly kind: 'synced'; readonly revision: Revision }
  /** Everything up to this revision has been sent. */
  | { readonly kind: 'progress'; readonly revision: Revision }

/**
 * The events of one turn of the shard, perhaps with a mark after them. Iterating parses them; a watch of JSON in the
 * storage version forwards `lines` as they are instead. Valid until its reader asks for the next one.
 */
export interface WatchBatch extends Iterable<WatchMessage> {
  /** The events as UTF-8: each `{"type":"ADDED","object":…}` and a newline. Empty when there is only a mark. */
  readonly lines: Uint8Array
  readonly mark?: WatchMark
}

export interface Watch {
  /**
   * Ends when the watch is cancelled. Fails with StorageError Compacted where the shard has dropped the next event,
   * and with Overloaded where a few megabytes wait for the client and the watch has no share of the room.
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
   * True: this page begins a complete list of existing objects, because `since` was absent or compacted. The caller
   * drops its earlier state.
   */
  readonly reset: boolean
  /**
   * There are more changes: the caller asks again with `revision`, and with `resetAt` if it is set. See change-pages.
   */
  readonly more: boolean
  /**
   * The revision at which the listed state began; this page and the following ones belong to it. Objects of earlier
   * releases have none.
   */
  readonly resetAt?: Revision
  /** In order of revision, each key once. `key` begins with the collection's prefix; without text it was deleted. */
  readonly changed: readonly { readonly key: string; readonly revision: Revision; readonly text?: string }[]
}

/** Names a restore; a later restore has a greater id. */
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
  /**
   * Creates many objects in one call, those whose (whole) keys do not exist.
   * @throws StorageError TooLarge
   */
  createMissing(shard: ShardName, values: readonly KeyedValue[]): Promise<void>
  /** @throws StorageError KeyNotFound, Conflict, TooLarge */
  update(collection: Collection, key: string, value: NewValue, expected: Revision): Promise<StoredValue>
  /** `last` is the state that DELETED events show. @throws StorageError KeyNotFound, Conflict */
  delete(collection: Collection, key: string, last: NewValue, expected: Revision): Promise<StoredValue>
  /** @throws StorageError Compacted, FutureRevision */
  list(collection: Collection, query: ListQuery): Promise<ListResult>
  /** Those of the namespaces that have an object of the type. In this order, and each as often as it was given. */
  occupied(collection: Collection, namespaces: readonly string[]): Promise<readonly string[]>
  /** The objects of those of the keys that exist. In this order, and each as often as its key was given. */
  several(collection: Collection, keys: readonly string[]): AsyncIterable<readonly [key: string, stored: StoredValue]>
  /** @throws StorageError Compacted, FutureRevision */
  watch(collection: Collection, query: WatchQuery): Promise<Watch>
  /** The newest revision of the collection's shard. */
  revision(collection: Collection): Promise<Revision>
  /** A page of the latest state of everything that changed in a shard after `since`, or of all existing objects. */
  changes(shard: ShardName, since?: Revision, resetAt?: Revision): Promise<ShardChanges>
  /**
   * Locks a shard: until `unlock` all calls but those of the restore fail with Restoring, and watches end.
   * @param unchangedSince fails with Conflict where something was written after it
   * @throws StorageError Superseded, Conflict
   */
  lock(shard: ShardName, restore: RestoreId, unchangedSince?: Revision): Promise<void>
  /**
   * Keys of a locked shard.
   * @throws StorageError Superseded
   */
  lockedKeys(collection: Collection, restore: RestoreId): Promise<readonly string[]>
  /**
   * Deletes everything in a locked shard, with its history. The first values of the restore come in the same step.
   * @param first values with their whole keys, PREFIX/KEY
   * @throws StorageError Superseded
   */
  clear(shard: ShardName, restore: RestoreId, first?: readonly RestoredValue[]): Promise<void>
  /**
   * Puts objects of a backup into a locked shard, with their versions.
   * @throws StorageError Superseded, KeyExists where one has the key or the version of another
   */
  restore(collection: Collection, restore: RestoreId, values: readonly RestoredValue[]): Promise<void>
  /**
   * Unlocks a shard. No revision before `cut` or before now can be read any more.
   * @throws StorageError Superseded
   */
  unlock(shard: ShardName, restore: RestoreId, cut: Revision): Promise<void>
  /**
   * Keeps what is readable at a revision for this many milliseconds from now; 0 ends the hold. Later writes get later
   * revisions, also where the clock has not reached it.
   * @param holder holds one revision at a time
   */
  hold(shard: ShardName, holder: string, revision: Revision, milliseconds: number): Promise<void>
}
