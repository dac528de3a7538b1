/**
 * Sends changes to the sockets of watchers. A watcher is only its socket's attachment: without queue and timer, so
 * that the shard can sleep and wake with all its watchers. Subscribe, then read the past: a new watcher first gets
 * the log from its revision on. While it is `past`, new changes go only to the log, and the watcher asks for more of
 * it. At the end of the log it becomes `live` in the same turn, and then gets each change in the turn that makes it.
 * So no event comes twice, is left out or overtakes another. Of a change that is too much for all watchers in one turn
 * some become `past` again, and read it in the log one after the other.
 */
import { FairPlaces } from '../src/base/fair-places.ts'
import type { Place } from '../src/base/fair-places.ts'
import { append } from '../src/base/append.ts'
import { StorageError } from '../src/storage/errors.ts'
import type { BatchHeader, Pong, WatchCall } from '../src/storage/shards/shard-protocol.ts'
import { ENDED, MORE, PING } from '../src/storage/shards/shard-protocol.ts'
import type { Revision, WatchEventType } from '../src/storage/storage.ts'
import { lazy } from '../src/base/lazy.ts'
import { turnOfOthers } from '../src/base/slices.ts'
import type { JsonObject } from '../src/api/object.ts'
import { storedContent } from '../src/storage/encryption/stored-content.ts'
import { withOtherRevision } from '../src/storage/streams/value-text.ts'
import { placesOf } from '../src/storage/watch/watch-places.ts'
import { encodeMessage, eventLine } from '../src/storage/watch/watch-batch.ts'
import { rangeOf } from './key-range.ts'
import type { Log } from './log.ts'
import { decodeSelectable } from './selectable.ts'
import { selecting } from './selected-keys.ts'
import type { Selects } from './selected-keys.ts'
import type { ChangeRow, KeyRange, Statements, VersionRow } from './statements.ts'
import { DELETED } from './statements.ts'

/** The platform keeps it with the socket, even while the shard sleeps: at most 16 KiB. */
interface Attachment extends WatchCall {
  readonly state: 'past' | 'live'
}

/** Live watchers with the same call, which share their messages. */
interface Group {
  readonly call: WatchCall
  readonly sockets: Set<WebSocket>
}

/** Bytes after which a message ends. A single event may be longer. */
const MESSAGE_BYTES = 512 * 1024
/** Bytes of a turn's changes that are sent in that turn, to all watchers together. */
const LIVE_BYTES = 8 * 1024 * 1024
/** Bytes of the past with which a watcher may begin. It asks for more when it has room. */
const FIRST_BYTES = 64 * 1024
/** Bytes of the past after which others have their turn. */
const PAST_BYTES = 256 * 1024
/** Milliseconds for which a part of the past is kept for others who ask for it. */
const PAST_MS = 500
/** Changes that one turn checks for the past of one watcher. */
const PAST_CHANGES = 2_000
const MAX_ATTACHMENT = 16_000
/** WebSocket close code: try again later. */
const TRY_AGAIN = 1013

export class WatchHub {
  /** By call. Each has a socket. Bound: the places. */
  private readonly groups = new Map<string, Group>()
  private answering = false
  /** The sending of the past to those who asked for it. Settles: the shard's watchers wait for nobody else. */
  private sending: Promise<void> = Promise.resolve()
  /** Those who wait for it. */
  private asking = 0
  private sentInTurn = 0
  /** The last part of the past, for a while: after a large change many ask for the same one. */
  private lastPast: { readonly key: string; readonly last: Revision; readonly past: Past } | undefined
  private isForgetting = false
  private readonly places = new FairPlaces()
  /** The places of the sockets, each until its socket closes or has to. */
  private readonly placeOf = new WeakMap<WebSocket, Place>()

  constructor(
    private readonly ctx: DurableObjectState,
    private readonly log: Log,
    private readonly statements: Statements,
    /** How many places there are for watches. */
    private readonly most: number,
  ) {
    for (const socket of ctx.getWebSockets()) {
      const attachment = attachmentOf(socket)
      // they were admitted before, perhaps when more were allowed
      this.seat(socket, this.placeFor(attachment, Infinity)!)
      if (attachment.state === 'live') this.enlist(socket, attachment)
    }
  }

  /**
   * @param keep as in ListCall
   * @throws StorageError Compacted, SelectorTooLarge, Overloaded
   */
  accept(call: WatchCall, keep: boolean): Response {
    const floor = Math.max(this.log.floor, this.log.watchFloor)
    if (call.from < floor) throw new StorageError('Compacted', call.from, floor)
    // a watch may begin at a future revision, and is silent until then
    if (!this.log.isFuture(call.from)) this.log.reach(call.from, keep)
    const attachment: Attachment = { ...call, state: 'past' }
    if (sizeOf(attachment) > MAX_ATTACHMENT) throw new StorageError('SelectorTooLarge', 0, MAX_ATTACHMENT)
    const place = this.placeFor(call, this.most)
    if (place === undefined) throw new StorageError('Overloaded', 0, 0, 'too much is watched at once')
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server)
    this.seat(server, place)
    this.begin(server, attachment)
    void this.answerPings()
    return new Response(null, { status: 101, webSocket: client })
  }

  /** The watcher has room for more of the past, and asks for it. */
  async message(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    if (message !== MORE) return
    this.asking++
    const sent = this.sending.then(() => this.sendMore(socket))
    this.sending = sent.catch(() => {})
    try {
      await sent
    } finally {
      this.asking--
      this.forgetPast()
    }
  }

  /** A short part is read again. A long one is kept for a while: watchers may have to wait before they ask. */
  private forgetPast(): void {
    const kept = this.lastPast
    if (this.asking > 0 || this.isForgetting || kept === undefined) return
    if (kept.past.message.length <= FIRST_BYTES) return void (this.lastPast = undefined)
    this.isForgetting = true
    setTimeout(() => {
      this.isForgetting = false
      if (this.lastPast === kept && this.asking === 0) this.lastPast = undefined
      else this.forgetPast()
    }, PAST_MS)
  }

  private async sendMore(socket: WebSocket): Promise<void> {
    if (this.sentInTurn >= PAST_BYTES) {
      await turnOfOthers()
      this.sentInTurn = 0
    }
    if (socket.readyState !== WebSocket.READY_STATE_OPEN) return
    const attachment = attachmentOf(socket)
    if (attachment.state === 'past') this.sendPast(socket, attachment)
  }

  /** Ends all watches for good. */
  end(): void {
    this.close(ENDED, 'ended')
  }

  /** Breaks all sockets. Watchers continue after their last revision, and read the missing events from the log. */
  interrupt(): void {
    this.close(TRY_AGAIN, 'interrupted')
  }

  private close(code: number, why: string): void {
    for (const socket of this.ctx.getWebSockets()) {
      this.placeOf.get(socket)?.leave()
      socket.close(code, why)
    }
    this.groups.clear()
  }

  private placeFor(call: WatchCall, most: number): Place | undefined {
    return this.places.take('', call.owner ?? '', most, placesOf(groupKey(call).length))
  }

  private seat(socket: WebSocket, place: Place): void {
    this.placeOf.set(socket, place)
    place.onEnd = () => {
      this.closed(socket)
      socket.close(ENDED, 'others want to watch')
    }
  }

  closed(socket: WebSocket): void {
    this.placeOf.get(socket)?.leave()
    this.delist(socket, attachmentOf(socket))
  }

  /** Called once with everything that one turn committed, in that turn. */
  publish(rows: readonly ChangeRow[]): void {
    if (rows.length === 0) return
    const changes = rows.map((row) => new Change(row, this.statements))
    let left = LIVE_BYTES
    for (const { call, sockets } of [...this.groups.values()]) {
      const { range, isSelected } = watched(call)
      const events = changes.flatMap((change) =>
        change.row.rv > call.from && isWithin(change.row.k, range) ? change.eventFor(isSelected) : [],
      )
      if (events.length === 0) continue
      const length = events.reduce((sum, { line }) => sum + line.length, 0)
      let messages: readonly Uint8Array[] | undefined
      for (const socket of [...sockets])
        if (length > left) this.fallBehind(socket, rows[0]!.rv - 1, length)
        else {
          left -= length
          for (const message of (messages ??= [...messagesOf(events, 'live')])) this.send(socket, message)
        }
    }
    void this.answerPings()
  }

  /**
   * The watcher is told that there is more, and asks for it.
   * @param from it has everything up to this revision
   * @param ahead bytes of the events after it
   */
  private fallBehind(socket: WebSocket, from: Revision, ahead: number): void {
    const attachment = attachmentOf(socket)
    this.delist(socket, attachment)
    const behind: Attachment = { ...attachment, from: Math.max(attachment.from, from), state: 'past' }
    socket.serializeAttachment(behind)
    this.send(socket, messageOf([], 'past', behind.from, ahead))
  }

  private delist(socket: WebSocket, call: WatchCall): void {
    const key = groupKey(call)
    const group = this.groups.get(key)
    group?.sockets.delete(socket)
    if (group?.sockets.size === 0) this.groups.delete(key)
  }

  private enlist(socket: WebSocket, call: WatchCall): void {
    const key = groupKey(call)
    const group = this.groups.get(key)
    if (group === undefined) this.groups.set(key, { call, sockets: new Set([socket]) })
    else group.sockets.add(socket)
  }

  private begin(socket: WebSocket, attachment: Attachment): void {
    const { length } = this.pastOf(attachment).message
    if (length <= FIRST_BYTES) return this.sendPast(socket, attachment)
    socket.serializeAttachment(attachment)
    this.send(socket, messageOf([], 'past', attachment.from, length))
  }

  /** Sends as much of the log as fits one message. At the end of the log the watcher becomes live. */
  private sendPast(socket: WebSocket, { state: _, ...call }: Attachment): void {
    if (call.from < this.log.floor) return socket.close(TRY_AGAIN, 'compacted')
    const { message, from, state } = this.pastOf(call)
    const attachment: Attachment = { ...call, from, state }
    socket.serializeAttachment(attachment)
    this.sentInTurn += message.length
    this.send(socket, message)
    if (state === 'live') this.enlist(socket, attachment)
  }

  private pastOf(call: WatchCall): Past {
    const [key, last] = [groupKey(call), this.log.last]
    if (this.lastPast?.key !== key || this.lastPast.last !== last)
      this.lastPast = { key, last, past: this.readPast(call) }
    const { past } = this.lastPast
    this.forgetPast()
    return past
  }

  private readPast(call: WatchCall): Past {
    const { range, isSelected } = watched(call)
    const events: Event[] = []
    let bytes = 0
    let seen = 0
    let from = call.from
    let isMore = false
    for (const row of this.statements.changes(from, range)) {
      isMore = bytes >= MESSAGE_BYTES || seen >= PAST_CHANGES
      if (isMore) break
      const change = new Change(row, this.statements)
      const found = change.eventFor(isSelected)
      append(events, found)
      const sent = found.reduce((sum, { line }) => sum + line.length, 0)
      bytes += Math.max(sent, change.length) + change.read
      seen++
      from = row.rv
    }
    const state = isMore ? 'past' : 'live'
    // the `from` of a live watch matters only where it is in the future
    const revision = isMore ? from : Math.max(call.from, this.log.last)
    return {
      message: messageOf(events, state, revision),
      from: isMore || call.from > this.log.last ? revision : 0,
      state,
    }
  }

  private send(socket: WebSocket, message: Uint8Array): void {
    try {
      socket.send(message)
    } catch {
      // it is closing: the engine will call `closed`, and the watcher continues after its last revision
    }
  }

  /**
   * Lets the platform answer PING while the shard sleeps. It waits until the revision is durable, so that no
   * unconfirmed one gets out.
   */
  private async answerPings(): Promise<void> {
    if (this.answering) return
    this.answering = true
    try {
      for (let answered = 0; answered !== this.log.last && this.ctx.getWebSockets().length > 0;) {
        const revision = this.log.last
        await this.ctx.storage.sync()
        const pong: Pong = { revision }
        this.ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, JSON.stringify(pong)))
        answered = revision
      }
    } finally {
      this.answering = false
    }
  }
}

/** What a watcher gets of the log, and where it is then. */
interface Past extends Pick<Attachment, 'from' | 'state'> {
  readonly message: Uint8Array
}

interface Event {
  readonly revision: Revision
  readonly line: Uint8Array
}

/** A change, from which each watcher's selection makes an event or none. */
class Change {
  /** Bound: one for each type of event. */
  private readonly lines: Partial<Record<WatchEventType, Uint8Array>> = {}
  /** Characters that were read to see whether the change is selected. */
  read = 0
  private readonly content = lazy(() => this.contentOf(this.row.v))
  private readonly contentBefore = lazy(() => this.contentOf(this.previous().v))
  private readonly selectable = lazy(() => decodeSelectable(this.row.l))
  private readonly selectableBefore = lazy(() => decodeSelectable(this.row.was ?? '{}'))

  constructor(
    readonly row: ChangeRow,
    private readonly statements: Statements,
  ) {}

  /** Characters of its row, which were read whether it is selected or not. */
  get length(): number {
    const { l, v, was } = this.row
    return l.length + v.length + (was?.length ?? 0)
  }

  /** One event or none. */
  eventFor(isSelected: Selects | undefined): Event[] {
    const { k, t, was, rv } = this.row
    const before =
      was !== null && (isSelected === undefined || isSelected(k, this.selectableBefore(), this.contentBefore))
    const after = t !== DELETED && (isSelected === undefined || isSelected(k, this.selectable(), this.content))
    if (!before && !after) return []
    const type = after ? (before ? 'MODIFIED' : 'ADDED') : 'DELETED'
    return [{ revision: rv, line: (this.lines[type] ??= encoder.encode(eventLine(type, this.text(type)))) }]
  }

  /**
   * An object that leaves the selection is shown in its last selected state, a deleted object as its deleter left it.
   */
  private text(type: WatchEventType): string {
    const { t, v, rv } = this.row
    if (type !== 'DELETED' || t === DELETED) return v
    const previous = this.previous()
    return withOtherRevision(previous.v, previous.at, previous.rv, rv)
  }

  private previous(): VersionRow {
    const { prv, rv } = this.row
    const previous = prv === null ? undefined : this.statements.version(prv)
    if (previous === undefined) throw new Error(`the state that ${rv} replaced is missing: ${prv}`)
    return previous
  }

  private contentOf(text: string): JsonObject | undefined {
    this.read += text.length
    return storedContent(text)
  }
}

const encoder = new TextEncoder()

const watched = (call: WatchCall) => ({ range: rangeOf(call), isSelected: selecting(call) })

/** Ranges end where an ASCII prefix does, so here the order of UTF-16 is that of SQLite. */
const isWithin = (key: string, { from, to }: KeyRange): boolean => key === from || (key > from && key < to)

// serializeAttachment above wrote it
const attachmentOf = (socket: WebSocket): Attachment => socket.deserializeAttachment() as Attachment

/** A lower bound of its size on the platform, where texts beyond Latin-1 take two bytes for each unit. */
function sizeOf(attachment: Attachment): number {
  const text = JSON.stringify(attachment)
  return /[^\0-\xff]/.test(text) ? text.length * 2 : text.length
}

const groupKey = ({ prefix, namespace, selection, from }: WatchCall): string =>
  JSON.stringify([prefix, namespace, selection, from])

function* messagesOf(events: readonly Event[], state: BatchHeader['state']): Generator<Uint8Array> {
  let batch: Event[] = []
  let bytes = 0
  for (const event of events) {
    if (bytes >= MESSAGE_BYTES) {
      yield messageOf(batch, state, batch.at(-1)!.revision)
      batch = []
      bytes = 0
    }
    batch.push(event)
    bytes += event.line.length
  }
  if (batch.length > 0) yield messageOf(batch, state, batch.at(-1)!.revision)
}

function messageOf(events: readonly Event[], state: BatchHeader['state'], revision: Revision, ahead = 0): Uint8Array {
  const revisions = events.map((event) => event.revision)
  const lines = new Uint8Array(events.reduce((sum, { line }) => sum + line.length, 0))
  let at = 0
  for (const { line } of events) {
    lines.set(line, at)
    at += line.length
  }
  return encodeMessage({ revision, revisions, state, ahead }, lines)
}
