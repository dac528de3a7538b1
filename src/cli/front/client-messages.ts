// What clients send over WebSockets to the engine. It keeps each message until that is whole, and counts none together.
// So those that have begun have a bound together. One may be as long as in kube-apiserver: a client may send a file to
// exec in one message.
import { OPCODES } from './websocket-frames.ts'

/** The most octets of a message, as in kube-apiserver and in workerd. */
export const LONGEST_MESSAGE = 32 << 20
/** The most octets that have come of messages that are not whole. */
export const MOST_ARRIVING = 64 << 20
const LONGEST_HEAD = 14
/** RFC 6455, 5.5. */
const LONGEST_CONTROL = 125

/** The messages of all clients that are not whole. */
export class ArrivingMessages {
  /** Those that have begun one. Bound: the connections. */
  readonly #begun = new Set<ClientMessages>()
  #octets = 0

  /** Ends the clients with the longest ones where they are too long together. */
  count(client: ClientMessages, before: number): void {
    this.#octets += client.octets - before
    if (client.octets === 0) this.#begun.delete(client)
    else this.#begun.add(client)
    while (this.#octets > MOST_ARRIVING) {
      let longest = client
      for (const one of this.#begun) if (one.octets > longest.octets) longest = one
      longest.end()
    }
  }
}

/** The messages of one client. */
export class ClientMessages {
  readonly #all: ArrivingMessages
  readonly #tooMuch: () => void
  /** The beginning of a frame, as long as its head is not whole. Bound: LONGEST_HEAD. */
  #head: Buffer = Buffer.alloc(0)
  /** Octets of the frame that are still to come. */
  #left = 0
  /** Whether the message ends with this frame. */
  #isLast = true
  #isControl = false
  #octets = 0
  #isOver = false

  /** @param tooMuch is called once, when the client must be disconnected */
  constructor(all: ArrivingMessages, tooMuch: () => void) {
    this.#all = all
    this.#tooMuch = tooMuch
  }

  /** What has come of the message that is not whole. */
  get octets(): number {
    return this.#octets
  }

  /** Follows what the client sends to the engine. */
  follow(data: Buffer): void {
    for (let at = 0; at < data.length && !this.#isOver;)
      at += this.#left > 0 ? this.#payload(data.length - at) : this.#begin(data.subarray(at))
  }

  /** The connection has ended. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#set(0)
    this.#tooMuch()
  }

  /** @returns the octets used */
  #payload(there: number): number {
    const used = Math.min(there, this.#left)
    this.#left -= used
    if (!this.#isControl) this.#set(this.#octets + used)
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
    if (length > (this.#isControl ? LONGEST_CONTROL : LONGEST_MESSAGE - this.#octets)) this.end()
    else this.#frameEnds()
    return size - before
  }

  #frameEnds(): void {
    if (this.#left === 0 && !this.#isControl && this.#isLast) this.#set(0)
  }

  #set(octets: number): void {
    const before = this.#octets
    this.#octets = octets
    if (before !== octets) this.#all.count(this, before)
  }
}
