// What clients send over WebSockets to the engine. It keeps each message until that is whole, and counts none together.
// So those that have begun have a bound together. One may be as long as in kube-apiserver: a client may send a file to
// exec in one message.
import { Held, HeldTogether } from '../held-together.ts'
import { OPCODES } from './websocket-frames.ts'

/** The most octets of a message, as in kube-apiserver and in workerd. */
export const LONGEST_MESSAGE = 32 << 20
/** The most octets that have come of messages that are not whole. */
export const MOST_ARRIVING = 64 << 20
const LONGEST_HEAD = 14
/** RFC 6455, 5.5. */
const LONGEST_CONTROL = 125

/** The messages of all clients that are not whole. */
export const arrivingMessages = (): HeldTogether => new HeldTogether(MOST_ARRIVING)

/** The messages of one client. */
export class ClientMessages {
  /** What has come of the message that is not whole. */
  readonly #message: Held
  /** The beginning of a frame, as long as its head is not whole. Bound: LONGEST_HEAD. */
  #head: Buffer = Buffer.alloc(0)
  /** Octets of the frame that are still to come. */
  #left = 0
  /** Whether the message ends with this frame. */
  #isLast = true
  #isControl = false

  /** @param tooMuch is called once, when the client must be disconnected */
  constructor(all: HeldTogether, tooMuch: () => void) {
    this.#message = new Held(all, tooMuch)
  }

  get octets(): number {
    return this.#message.octets
  }

  /** Follows what the client sends to the engine. */
  follow(data: Buffer): void {
    for (let at = 0; at < data.length && !this.#message.isOver;)
      at += this.#left > 0 ? this.#payload(data.length - at) : this.#begin(data.subarray(at))
  }

  /** The connection has ended. */
  end(): void {
    this.#message.end()
  }

  /** @returns the octets used */
  #payload(there: number): number {
    const used = Math.min(there, this.#left)
    this.#left -= used
    if (!this.#isControl) this.#message.holds(this.#message.octets + used)
    this.#frameEnds()
    return used
  }

  /** @returns the octets used */
  #begin(data: Buffer): number {
    const before = this.#head.length
    const head = before === 0 ? data : Buffer.concat([this.#head, data.subarray(0, LONGEST_HEAD)])
    const short = (head[1] ?? 0) & 0x7f
    const size = 2 + (short === 127 ? 8 : short === 126 ? 2 : 0) + (((head[1] ?? 0) & 0x80) === 0 ? 0 : 4)
    if (head.length < 2 || head.length < size) {
      this.#head = Buffer.from(head)
      return data.length
    }
    this.#head = Buffer.alloc(0)
    const length = short === 127 ? Number(head.readBigUInt64BE(2)) : short === 126 ? head.readUInt16BE(2) : short
    this.#isLast = (head[0]! & 0x80) !== 0
    this.#isControl = (head[0]! & 0x0f) >= OPCODES.close
    this.#left = length
    if (length > (this.#isControl ? LONGEST_CONTROL : LONGEST_MESSAGE - this.#message.octets)) this.end()
    else this.#frameEnds()
    return size - before
  }

  #frameEnds(): void {
    if (this.#left === 0 && !this.#isControl && this.#isLast) this.#message.holds(0)
  }
}
