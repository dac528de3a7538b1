// When requests of HTTP/2 begin: a few in a turn of the event loop, the connections one after the other. A client sends
// hundreds of them in the octets that the front reads at once, and may cancel each right behind it. Each would take a
// connection to the engine, and all others would wait for that. A request that is cancelled in the line takes nothing.
// Heads are packed: 300 octets may be one of a megabyte, which takes milliseconds.

/** Requests that begin in one turn: a few milliseconds. */
const IN_A_TURN = 16
/** Characters of their heads; the last one may have more. */
const HEADS_IN_A_TURN = 64 << 10

export interface WaitingStream {
  /** Whether its client has cancelled it, or its connection has ended. */
  readonly closed: boolean
}

interface Waiting {
  readonly stream: WaitingStream
  /** Characters of its head. */
  readonly length: number
  readonly begin: () => void
}

export class StreamLine {
  /** By connection; the next one first. Bound: the requests of the connections, and those that their clients cancelled. */
  readonly #waiting = new Map<object, Waiting[]>()
  #isLooking = false

  /**
   * @param length the characters of its head
   * @param begin is called in a later turn, unless the client cancels the request before
   */
  join(connection: object, stream: WaitingStream, length: number, begin: () => void): void {
    const one = { stream, length, begin }
    const own = this.#waiting.get(connection)
    if (own === undefined) this.#waiting.set(connection, [one])
    else own.push(one)
    this.#look()
  }

  /** Forgets the requests of a connection that has ended. */
  leave(connection: object): void {
    this.#waiting.delete(connection)
  }

  #look(): void {
    if (this.#isLooking || this.#waiting.size === 0) return
    this.#isLooking = true
    setImmediate(() => {
      this.#isLooking = false
      let length = 0
      for (let n = 0; n < IN_A_TURN && length < HEADS_IN_A_TURN; n++) {
        const next = this.#next()
        if (next === undefined) return
        length += next.length
        next.begin()
      }
      this.#look()
    })
  }

  /** The next request that is still wanted. */
  #next(): Waiting | undefined {
    for (const [connection, waiting] of this.#waiting) {
      // those behind it keep their order; the connection comes last
      this.#waiting.delete(connection)
      const at = waiting.findIndex(({ stream }) => !stream.closed)
      if (at < 0) continue
      const rest = waiting.slice(at + 1)
      if (rest.length > 0) this.#waiting.set(connection, rest)
      return waiting[at]
    }
    return undefined
  }
}
