// Passes a body on in few pieces, whatever pieces it comes in. Node makes an object for each chunk of a body, and a
// stream that waits for its reader keeps 64 KiB of content: in chunks of one octet these take ten megabytes.
import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { Gathered } from '../../base/gathered.ts'

/** Octets that wait for the reader, beside those of one read of the connection. */
const MOST_WAITING = 64 << 10
/** Pieces of one read of a connection from which on its next read waits for its turn. They take half a millisecond. */
const MANY = 1_000

/**
 * Connections whose bodies come in many small pieces. One of them is read in a turn of the event loop: Node takes
 * milliseconds for such a read, and others wait meanwhile.
 */
export class Turns {
  /** Bound: the connections. */
  readonly #waiting = new Set<() => void>()
  #isPlanned = false

  get waiting(): number {
    return this.#waiting.size
  }

  wait(go: () => void): void {
    this.#waiting.add(go)
    this.#plan()
  }

  leave(go: () => void): void {
    this.#waiting.delete(go)
  }

  #plan(): void {
    if (this.#isPlanned || this.#waiting.size === 0) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      for (const go of this.#waiting) {
        this.#waiting.delete(go)
        go()
        break
      }
      this.#plan()
    })
  }
}

const turns = new Turns()

/** Joins what arrives together, and what arrives while its reader takes nothing. Then the connection is not read. */
export class JoinedPieces extends Transform {
  readonly #source: IncomingMessage
  /** Bound: what arrives before the connection is no longer read. */
  #waiting = new Gathered()
  #pieces = 0
  #isPlanned = false
  /** The reader takes nothing. */
  #isFull = false
  #waitsForTurn = false
  readonly #go = (): void => {
    this.#waitsForTurn = false
    this.#continue()
  }

  /** @param source is piped into this, and nothing else reads it */
  constructor(source: IncomingMessage) {
    // a writable side that was full would keep the pieces in the source
    super({ readableHighWaterMark: MOST_WAITING, writableHighWaterMark: Number.MAX_SAFE_INTEGER })
    this.#source = source
  }

  override _transform(piece: Buffer, _encoding: string, done: () => void): void {
    this.#waiting.add(piece)
    this.#pieces++
    if (!this.#isPlanned) {
      this.#isPlanned = true
      process.nextTick(() => this.#arrived())
    }
    done()
  }

  override _flush(done: () => void): void {
    this.#isFull = false
    this.#pass()
    done()
  }

  override _read(size: number): void {
    super._read(size)
    if (!this.#isFull) return
    this.#isFull = false
    this.#pass()
    this.#continue()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    turns.leave(this.#go)
    super._destroy(error, done)
  }

  /** One read of the connection is over. */
  #arrived(): void {
    this.#isPlanned = false
    const isHeavy = this.#pieces > MANY
    this.#pieces = 0
    if (this.destroyed) return
    this.#pass()
    if (isHeavy && !this.#waitsForTurn) {
      this.#waitsForTurn = true
      turns.wait(this.#go)
    }
    // Node goes on reading in the tick of an arrival, so this comes one later
    if (this.#isFull || this.#waitsForTurn) process.nextTick(() => this.#stop())
  }

  #pass(): void {
    if (this.#isFull || this.#waiting.length === 0) return
    const { buffer, byteOffset, length } = this.#waiting.whole()
    this.#waiting = new Gathered()
    this.#isFull = !this.push(Buffer.from(buffer, byteOffset, length))
  }

  // the connection of a complete message may serve another one

  #stop(): void {
    if ((this.#isFull || this.#waitsForTurn) && !this.#source.complete) this.#source.socket.pause()
  }

  #continue(): void {
    if (!this.#isFull && !this.#waitsForTurn && !this.#source.complete) this.#source.socket.resume()
  }
}
