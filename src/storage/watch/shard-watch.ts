/**
 * The Worker's end of a watch: a socket to the shard. When it breaks (deploys and moves cut sockets), it is opened
 * again where it left off, and its reader notices nothing. Timers and buffers are here, because the shard has none.
 */
import type { Clock } from '../../base/clock.ts'
import { StorageError } from '../errors.ts'
import type { Pong, WatchCall } from '../shards/shard-protocol.ts'
import { decodeHeader, ENDED, MORE, PING } from '../shards/shard-protocol.ts'
import type { InitialEvents } from './initial-events.ts'
import { revisionAt } from '../revisions/revision.ts'
import type { Revision, Watch, WatchBatch } from '../storage.ts'
import { decodeMessage, EncodedBatch } from './watch-batch.ts'
import type { WatchShare } from './watch-room.ts'

/** Bytes that may wait for the client. With more a watch with a share of the room falls behind, and any other ends. */
const MAX_WAITING = 4 * 1024 * 1024
/** Bytes of room with which a watch asks for more, where the shard does not say how much there is. */
const ASKED = 512 * 1024
/** Milliseconds before each attempt to reopen the socket. */
const REOPEN_AFTER = [0, 50, 200, 1_000, 3_000]

type WatchScope = Omit<WatchCall, 'from'>

/** Opens a socket to the shard. */
type Upgrade = (url: string) => Promise<Response>

/**
 * @param from a revision, or the state to begin with
 * @throws StorageError Compacted
 */
export async function openWatch(
  scope: WatchScope,
  from: Revision | InitialEvents,
  upgrade: Upgrade,
  clock: Clock,
  share?: WatchShare,
): Promise<Watch> {
  const initial = typeof from === 'number' ? undefined : from
  const watch = new ShardWatch(scope, typeof from === 'number' ? from : from.revision, upgrade, clock, share)
  try {
    // events from here on wait in the socket while the client reads the initial events
    await watch.open()
  } catch (error) {
    initial?.cancel()
    throw error
  }
  return {
    messages: initial === undefined ? watch : afterInitial(initial, watch),
    ping: () => watch.ping(),
    cancel() {
      watch.end()
      initial?.cancel()
    },
  }
}

async function* afterInitial(initial: InitialEvents, watch: ShardWatch): AsyncGenerator<WatchBatch> {
  try {
    yield* initial
    if (!watch.isOver) yield* watch
  } finally {
    watch.end()
    initial.cancel()
  }
}

class ShardWatch implements AsyncIterable<WatchBatch> {
  /** Bound: MAX_WAITING bytes. */
  private readonly waiting: EncodedBatch[] = []
  private waitingLength = 0
  /** The length of the batch that the reader has taken, until it takes the next one. */
  private sending = 0
  private socket: WebSocket | undefined
  /** The whole past has been received. Only then are answers to PING about this watch. */
  private isLive = false
  private isMoreOffered = false
  /** Bytes of room for what the shard was asked for, until that comes. */
  private asked = 0
  /** Bytes that it gets when it asks, as far as is known. */
  private ahead = 0
  /** Waits for room to ask. */
  private isWaiting = false
  private isReopening = false
  private isUnanswered = false
  isOver = false
  private failure: unknown
  private wake: () => void = () => {}

  /** @param received everything up to this revision has arrived */
  constructor(
    private readonly scope: WatchScope,
    private received: Revision,
    private readonly upgrade: Upgrade,
    private readonly clock: Clock,
    /** Absent: nobody limits it. */
    private readonly share: WatchShare | undefined,
  ) {}

  /** @throws StorageError Compacted */
  async open(): Promise<void> {
    const call: WatchCall = { ...this.scope, from: this.received }
    const response = await this.upgrade(`http://shard/watch?q=${encodeURIComponent(JSON.stringify(call))}`)
    const socket = response.webSocket
    if (socket === null) throw refusal(response)
    socket.binaryType = 'arraybuffer'
    socket.accept()
    // cancelled meanwhile; only a socket that was accepted can be closed
    if (this.isOver) return socket.close(NORMAL)
    this.isLive = this.isMoreOffered = this.isUnanswered = false
    this.socket = socket
    socket.addEventListener('message', ({ data }) => {
      if (socket !== this.socket) return
      // binary messages have the form of BatchHeader
      if (typeof data === 'string') this.answered(data)
      else this.take(data as ArrayBuffer)
    })
    const broken = () => socket === this.socket && void this.reopen()
    socket.addEventListener('close', ({ code }) => {
      if (code === ENDED && socket === this.socket) this.end()
      else broken()
    })
    socket.addEventListener('error', broken)
  }

  private take(message: ArrayBuffer): void {
    const { header, lines } = decodeMessage(message)
    const isLive = header.state === 'live'
    if (!this.hold(lines.length, isLive)) return this.fallBehind(lines.length)
    this.ahead = header.ahead
    this.received = Math.max(this.received, header.revision)
    this.isLive = isLive
    this.isMoreOffered = !isLive
    if (header.revisions.length > 0) this.put(new EncodedBatch(lines, header.revisions))
    this.askForMore()
  }

  /** @returns false where there is no room */
  private hold(bytes: number, isLive: boolean): boolean {
    if (this.share === undefined || (bytes === 0 && !isLive)) return true
    if (this.asked === 0) return bytes === 0 || (this.waitingLength + bytes <= MAX_WAITING && this.share.tryHold(bytes))
    this.share.hold(bytes - this.asked)
    this.asked = 0
    return true
  }

  /** Drops what has come, and reads it in the log when there is room. */
  private fallBehind(bytes: number): void {
    this.close()
    this.ahead = bytes
    this.isLive = false
    this.isMoreOffered = true
    this.askForMore()
  }

  private answered(text: string): void {
    this.isUnanswered = false
    // the shard's hub wrote it
    const { revision } = JSON.parse(text) as Pong
    if (!this.isLive || revision < this.received) return
    this.received = revision
    this.put(new EncodedBatch(new Uint8Array(), [], { kind: 'progress', revision }))
  }

  private put(batch: EncodedBatch): void {
    this.waiting.push(batch)
    this.waitingLength += batch.lines.length
    if (this.isOver) return
    if (this.waitingLength > MAX_WAITING) this.end(new StorageError('Overloaded', 0, 0, 'the watcher is too slow'))
    this.wake()
  }

  /** Asks for more of the past when there is room for it. */
  private askForMore(): void {
    if (!this.isMoreOffered || this.isWaiting || this.isOver) return
    if (this.waitingLength > (this.share === undefined ? MAX_WAITING / 2 : 0)) return
    this.isMoreOffered = false
    const bytes = this.ahead || ASKED
    const hasRoom = this.share === undefined || this.asked > 0 || this.share.take(bytes)
    if (typeof hasRoom === 'boolean') return this.ask(hasRoom, bytes)
    this.isWaiting = true
    void hasRoom.then((isGiven) => {
      this.isWaiting = false
      this.ask(isGiven, bytes)
    })
  }

  private ask(hasRoom: boolean, bytes: number): void {
    if (!hasRoom || this.isOver) return
    if (this.share !== undefined && this.asked === 0) this.asked = bytes
    // meanwhile the socket may have been opened again, at the end of the log
    if (this.isLive) return void this.hold(0, true)
    if (this.socket !== undefined) this.socket.send(MORE)
    else if (!this.isReopening) void this.reopen()
  }

  /** Sends PING. A socket that has not answered the last PING is dead, even if it was never closed. */
  ping(): void {
    if (this.socket === undefined) return
    if (this.isUnanswered) return void this.reopen()
    this.isUnanswered = true
    this.socket.send(PING)
  }

  private async reopen(): Promise<void> {
    this.close()
    this.isReopening = true
    try {
      await this.tryToOpen()
    } finally {
      this.isReopening = false
    }
  }

  private async tryToOpen(): Promise<void> {
    for (const milliseconds of REOPEN_AFTER) {
      await pause(milliseconds)
      if (this.isOver) return
      try {
        return await this.open()
      } catch (error) {
        if (error instanceof StorageError && error.code === 'Compacted') return this.end(error)
        // the following events belong to another state, so the client has to list again
        if (error instanceof StorageError && error.code === 'Restoring')
          return this.end(new StorageError('Compacted', this.received, revisionAt(this.clock())))
      }
    }
    this.end(new StorageError('Unavailable', 0, 0, 'the shard cannot be reached'))
  }

  end(failure?: unknown): void {
    if (this.isOver) return
    this.isOver = true
    this.failure = failure
    // nobody takes them any more, and the reader may wait for its client for a long time
    this.waiting.length = 0
    this.waitingLength = this.sending = 0
    this.share?.leave()
    this.close()
    this.wake()
  }

  private close(): void {
    const socket = this.socket
    this.socket = undefined
    try {
      socket?.close(NORMAL)
    } catch {
      // the other end has closed it
    }
  }

  /** The client has taken the last batch. */
  private sent(): void {
    const { sending } = this
    this.sending = 0
    this.share?.taken()
    this.share?.hold(-sending)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch> {
    try {
      for (;;) {
        if (this.failure !== undefined) throw this.failure
        if (this.isOver) return
        this.sent()
        const batch = this.waiting.shift()
        if (batch === undefined) {
          await new Promise<void>((resolve) => (this.wake = resolve))
          continue
        }
        this.waitingLength -= batch.lines.length
        this.sending = batch.lines.length
        this.askForMore()
        yield batch
        batch.forget()
      }
    } finally {
      this.end()
    }
  }
}

/** WebSocket close code. */
const NORMAL = 1000

function refusal(response: Response): StorageError {
  const reply = decodeHeader(response)
  if (!('error' in reply)) return new StorageError('Unavailable', 0, 0, 'the shard opened no socket')
  return new StorageError(reply.error.code, reply.error.revision, reply.error.current)
}

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))
