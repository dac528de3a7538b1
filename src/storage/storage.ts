/**
 * The storage contract: ordered keys, bytes, labels and revisions. Storage knows no kinds. What it promises is what
 * clients of Kubernetes rely on: revisions of a shard grow strictly, a list is an exact snapshot, a watch neither
 * skips nor repeats nor reorders. One suite (test/storage-suite) holds every implementation to it.
 */
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

/** What selections look at, kept in a narrow table beside the values. */
export interface Selectable {
  readonly labels?: Readonly<Record<string, string>>
  readonly fields?: Readonly<Record<string, string>>
  /** UIDs of owners, for garbage collection. */
  readonly owners?: readonly string[]
}

/** A value to be written: JSON text without its revision, which the shard inserts as decimal digits at `at`. */
export interface NewValue extends Selectable {
  readonly text: string
  /** UTF-16 offset in `text` of the (empty) resourceVersion string's content. */
  readonly at: number
  /** `metadata.uid`: by it a create whose answer was lost is recognised when it is sent again. */
  readonly uid: string
}

export interface StoredValue {
  readonly revision: Revision
  /** JSON text with its own resourceVersion in it. */
  readonly text: string
}

/** How fresh a list must be, after resourceVersion and resourceVersionMatch were checked. */
export type ListAt =
  | { readonly kind: 'latest' }
  | { readonly kind: 'notOlderThan'; readonly revision: Revision }
  | { readonly kind: 'exact'; readonly revision: Revision }

export interface ListQuery {
  readonly namespace?: string
  readonly selection: Selection
  readonly at: ListAt
  /** 0 or absent: everything. */
  readonly limit?: number
  /** Full key (behind the prefix and its slash) to begin at, inclusive: `NAMESPACE/NAME\u0000`. */
  readonly start?: string
}

/** An exact snapshot, streamed. Everything but the values is known when it begins. */
export interface ListResult {
  readonly revision: Revision
  /** Key of the last item of this page when more follow, relative to the prefix. */
  readonly continueAfter?: string
  /** How many follow this page; known only without label or field selectors. */
  readonly remaining?: number
  readonly count: number
  /** The values' JSON texts, each followed by a newline, in chunks of whole UTF-8 bytes. */
  readonly values: ReadableStream<Uint8Array>
}

export interface WatchQuery {
  readonly namespace?: string
  readonly selection: Selection
  /**
   * `undefined`: what exists first, as ADDED in key order, then a `synced` mark, then what happens.
   * A revision: everything after it, in order of revision.
   */
  readonly from?: Revision
  /** Initial events not older than this revision (only without `from`). */
  readonly notOlderThan?: Revision
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** What a watch yields. `event.text` is the JSON text of the object, with the event's revision as resourceVersion. */
export type WatchMessage =
  | { readonly kind: 'event'; readonly type: WatchEventType; readonly revision: Revision; readonly text: string }
  /** The initial events are over, at this revision. */
  | { readonly kind: 'synced'; readonly revision: Revision }
  /** All up to this revision was sent. */
  | { readonly kind: 'progress'; readonly revision: Revision }

export interface Watch {
  /** Messages in batches: a batch is what one turn of the shard produced. Ends when the watch was cancelled. */
  readonly messages: AsyncIterable<readonly WatchMessage[]>
  /** Asks for a `progress` message without waking the shard. */
  ping(): void
  cancel(): void
}

export interface Storage {
  get(collection: Collection, key: string, notOlderThan?: Revision): Promise<StoredValue | undefined>
  /** @throws StorageError KeyExists, TooLarge */
  create(collection: Collection, key: string, value: NewValue): Promise<StoredValue>
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
}
