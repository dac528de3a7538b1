/**
 * What Worker and shard say to each other. Keys are whole (`PREFIX/NAMESPACE/NAME`). Errors are values here: classes
 * do not survive the way.
 */
import type { StorageErrorCode } from './errors.ts'
import type { Selection } from './selection.ts'
import type { ListAt, ListShape, NewValue, Revision, StoredValue } from './storage.ts'

/** WebSocket close code: the watch is over, and is not to be opened again. */
export const ENDED = 4001

export interface ShardError {
  readonly code: StorageErrorCode
  readonly revision: Revision
  readonly current: Revision
  /** For the message. */
  readonly detail?: string
}

/**
 * `again`: the call was sent before and its answer lost, so a write that is already there counts as done. `check`:
 * moreover the disk takes no writes; a write that is not there fails with Failed.
 */
export type Attempt = 'first' | 'again' | 'check'

export interface ShardRefusal {
  readonly error: ShardError
}

export type ShardReply<Value> = { readonly value: Value } | ShardRefusal

/**
 * A revision, a line feed and the value of that revision. A call that answers with text costs both sides less than one
 * with an object, which the engine has to take apart, put together, and give a way to be disposed of.
 */
export type StoredText = string

export function storedValue(text: StoredText): StoredValue {
  const end = text.indexOf('\n')
  return { revision: Number(text.slice(0, end)), text: text.slice(end + 1) }
}

/** The writer knows the text that it sent. The answer has a text only if another one is stored. */
export interface Written {
  readonly revision: Revision
  readonly text?: string
}

/** One of several writes of a call. */
export type ShardWrite =
  | { readonly verb: 'create'; readonly key: string; readonly value: NewValue }
  | {
      readonly verb: 'update' | 'delete'
      readonly key: string
      readonly value: NewValue
      readonly expected: Revision
    }

/** Where in the shard's keys to look. */
export interface KeyScope {
  readonly prefix: string
  readonly namespace?: string
  readonly selection: Selection
}

/** `events`: frames of ADDED events, for the beginning of a watch. */
export type StreamShape = ListShape | { readonly as: 'events' }

/** Body of `POST /list`. */
export interface ListCall extends KeyScope {
  readonly at: ListAt
  readonly shape: StreamShape
  readonly limit: number
  readonly counted: boolean
  readonly start: string
  /** False: the disk takes no writes, so the revision that is read is not kept there. */
  readonly keep: boolean
  /** Values that are sealed may be among them. Callers of earlier releases cannot open any. */
  readonly opens?: boolean
}

/** In the header of the answer to `POST /list`, whose body is the values; the error of a refused watch. */
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
  // Written by encodeHeader.
  return JSON.parse(decodeURIComponent(headers.get(HEADER)!)) as ListHeader
}

/** In the query `q` of the upgrade at `/watch`; with `keep=false` when the disk takes no writes. */
export interface WatchCall extends KeyScope {
  readonly from: Revision
  /** As in ListCall. */
  readonly opens?: boolean
}

/** Before the event lines of a frame in a list of `events`. */
export interface FrameHeader {
  /** Of the events that follow. */
  readonly revisions: readonly Revision[]
  /** Bytes that follow. */
  readonly bytes: number
  /** Key, behind the prefix, of the last event. A list that broke off goes on behind it. */
  readonly after: string
}

/**
 * Before the event lines of a binary message on a watch's socket. Text messages are answers to PING, made by the
 * runtime while the shard sleeps.
 */
export interface BatchHeader {
  /** All up to this revision was sent with this batch. */
  readonly revision: Revision
  /** Of the events that follow. */
  readonly revisions: ArrayLike<Revision>
  /**
   * `past`: there is more in the log, to be asked for with MORE. `live`: the past is over; only from here on are
   * answers to PING about this watch.
   */
  readonly state: 'past' | 'live'
}

export const PING = 'ping'
export const MORE = 'more'

/** The answer to PING. */
export interface Pong {
  readonly revision: Revision
}

/** Work that writes brought with them, as it reaches the controllers: at least once, in order of `seq`. */
export interface OutboxRow {
  readonly seq: number
  readonly key: string
  readonly topic: string
  readonly payload: string
}

/** Consumes a shard's outbox. When it fails, the same rows come again later. */
export interface OutboxReceiver {
  receive(shard: string, rows: readonly OutboxRow[]): Promise<void>
}

/** A shard's statistics, for its operator. Counts begin at `since`. */
export interface ShardStats {
  readonly name: string
  /** Milliseconds since 1970: when this instance was constructed. */
  readonly since: number
  readonly awakeSeconds: number
  /** How often the object was constructed, if it counts that: KEDGE_COUNT_WAKES. */
  readonly constructed: number
  /** The calls that it got. */
  readonly reasons: Readonly<Record<string, number>>
  readonly rowsRead: number
  readonly rowsWritten: number
  readonly sockets: number
  readonly databaseBytes: number
  readonly keys: number
  readonly versions: number
  readonly revision: Revision
  readonly floor: Revision
  /** When a compaction last came to its end, in milliseconds since 1970. */
  readonly lastCompaction?: number
  readonly outbox: number
}
