/**
 * The messages between Worker and shard. Keys are complete (`PREFIX/NAMESPACE/NAME`). Errors are values here, because
 * RPC does not keep classes.
 */
import type { StorageErrorCode } from '../errors.ts'
import type { Selection } from '../selectors/selection.ts'
import type { ListAt, ListShape, NewValue, Revision, StoredValue } from '../storage.ts'

/** WebSocket close code: the watch has ended, and must not be opened again. */
export const ENDED = 4001

export interface ShardError {
  readonly code: StorageErrorCode
  readonly revision: Revision
  readonly current: Revision
  /** For the error message. */
  readonly detail?: string
}

/**
 * `again`: the call was sent before and its answer lost, so a write that is already there counts as done. `check`:
 * like `again`, but the disk takes no writes; a write that is not there fails with Failed.
 */
export type Attempt = 'first' | 'again' | 'check'

export interface ShardRefusal {
  readonly error: ShardError
}

export type ShardReply<Value> = { readonly value: Value } | ShardRefusal

/**
 * A revision, a line feed and the value of that revision. A text costs both sides less than an object, which the
 * engine takes apart, puts together and makes disposable.
 */
export type StoredText = string

export function storedValue(text: StoredText): StoredValue {
  const end = text.indexOf('\n')
  return { revision: Number(text.slice(0, end)), text: text.slice(end + 1) }
}

/** The objects of many keys. */
export interface Several {
  /** How many of the keys were looked at. */
  readonly looked: number
  /** With the places of their keys. */
  readonly found: readonly { readonly index: number; readonly stored: StoredValue }[]
}

/** The answer to a write. It has a text only where another text is stored than the one that was sent. */
export interface Written {
  readonly revision: Revision
  readonly text?: string
}

/** One of several writes of a call. */
export type ShardWrite = Begun &
  (
    | { readonly verb: 'create'; readonly key: string; readonly value: NewValue }
    | {
        readonly verb: 'update' | 'delete'
        readonly key: string
        readonly value: NewValue
        readonly expected: Revision
      }
  )

interface Begun {
  /**
   * When the caller began the write, in milliseconds since 1970: see durable-objects/restore-lock.ts. Callers of an
   * earlier release send none.
   */
  readonly begun?: number | undefined
}

/** The part of a shard's keys to search. */
export interface KeyScope {
  readonly prefix: string
  readonly namespace?: string
  readonly selection: Selection
}

/** `events`: frames of ADDED events, for the start of a watch. */
export type StreamShape = ListShape | { readonly as: 'events' }

/** Body of `POST /list`. */
export interface ListCall extends KeyScope {
  readonly at: ListAt
  readonly shape: StreamShape
  readonly limit: number
  readonly counted: boolean
  readonly start: string
  /** False: the disk takes no writes, so the revision of the read is not stored. */
  readonly keep: boolean
  /** The caller can open sealed values. Callers of earlier releases cannot. */
  readonly opens?: boolean
  /** See call-depth.ts. */
  readonly depth?: number | undefined
}

/** The header of the answer to `POST /list`, whose body has the values. A refused watch has its error here. */
export type ListHeader = ShardReply<{
  readonly revision: Revision
  readonly isEmpty: boolean
  readonly count?: number
  readonly continueAfter?: string
  readonly remaining?: number
}>

const HEADER = 'Kedge-Shard'

/** Header values are ASCII; keys need not be. */
export const encodeHeader = (header: ListHeader): HeadersInit => ({
  [HEADER]: encodeURIComponent(JSON.stringify(header)),
})

export function decodeHeader({ headers }: Response): ListHeader {
  // encodeHeader wrote it
  return JSON.parse(decodeURIComponent(headers.get(HEADER)!)) as ListHeader
}

/** In the query parameter `q` of the upgrade at `/watch`; with `keep=false` where the disk takes no writes. */
export interface WatchCall extends KeyScope {
  readonly from: Revision
  /** A short text that differs for each owner of watches. Callers of earlier releases send none. */
  readonly owner?: string
  /** As in ListCall. */
  readonly opens?: boolean
}

/** Precedes the event lines of a frame in a list of `events`. */
export interface FrameHeader {
  /** Revisions of the events that follow. */
  readonly revisions: readonly Revision[]
  /** The bytes that follow. */
  readonly bytes: number
  /** The key of the last event, behind the prefix. A list that broke off continues behind it. */
  readonly after: string
}

/**
 * Precedes the event lines of a binary message on a watch's socket. Text messages are answers to PING, which the
 * runtime sends while the shard sleeps.
 */
export interface BatchHeader {
  /** Everything up to this revision has been sent with this batch. */
  readonly revision: Revision
  /** Revisions of the events that follow. */
  readonly revisions: ArrayLike<Revision>
  /**
   * `past`: the log has more, which the watcher gets by MORE. `live`: the past has ended; only answers to PING from
   * here on are about this watch.
   */
  readonly state: 'past' | 'live'
  /** Bytes of events that the watcher gets at least when it asks for more; 0 where the shard does not say. */
  readonly ahead: number
}

export const PING = 'ping'
export const MORE = 'more'

/** The answer to PING. */
export interface Pong {
  readonly revision: Revision
}

/** Work that writes brought, on its way to the controllers: at least once, in order of `seq`. */
export interface OutboxRow {
  readonly seq: number
  readonly key: string
  readonly topic: string
  readonly payload: string
}

/** Receives a shard's outbox. Where it fails, the same rows come again later. */
export interface OutboxReceiver {
  /** @param depth see call-depth.ts */
  receive(shard: string, rows: readonly OutboxRow[], depth?: number): Promise<void>
}

/** A shard's statistics for operators, counted since `since`. */
export interface ShardStats {
  readonly name: string
  /** When this instance was constructed, in milliseconds since 1970. */
  readonly since: number
  readonly awakeSeconds: number
  /** How often the object was constructed, where KEDGE_COUNT_WAKES is on. */
  readonly constructed: number
  /** The calls that it received. */
  readonly reasons: Readonly<Record<string, number>>
  readonly rowsRead: number
  readonly rowsWritten: number
  readonly sockets: number
  readonly databaseBytes: number
  readonly keys: number
  readonly versions: number
  readonly revision: Revision
  readonly floor: Revision
  /** When a compaction last ended, in milliseconds since 1970. */
  readonly lastCompaction?: number
  readonly outbox: number
  /** The deepest call that came (call-depth.ts). */
  readonly deepest: number
}
