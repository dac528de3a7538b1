// What clients send over WebSockets to the engine. It keeps each message until that is whole, and counts none together.
// So those that have begun have a bound together. One may be as long as in kube-apiserver: a client may send a file to
// exec in one message.
import { Held, HeldTogether } from '../held-together.ts'
import { FrameFollower } from './frame-follower.ts'

/** The most octets of a message, as in kube-apiserver and in workerd. */
export const LONGEST_MESSAGE = 32 << 20
/** The most octets that have come of messages that are not whole. */
export const MOST_ARRIVING = 64 << 20
/** RFC 6455, 5.5. */
const LONGEST_CONTROL = 125

/** The messages of all clients that are not whole. */
export const arrivingMessages = (): HeldTogether => new HeldTogether(MOST_ARRIVING)

/** The messages of one client. */
export class ClientMessages {
  /** What has come of the message that is not whole. */
  readonly #message: Held
  readonly #frames = new FrameFollower({
    onBegin: ({ isControl, length }) => {
      if (length > (isControl ? LONGEST_CONTROL : LONGEST_MESSAGE - this.#message.octets)) this.end()
    },
    onPayload: ({ isControl }, octets) => {
      if (!isControl) this.#message.holds(this.#message.octets + octets)
    },
    onEnd: ({ isControl, isLast }) => {
      if (!isControl && isLast) this.#message.holds(0)
    },
  })

  /** @param tooMuch is called once, when the client must be disconnected */
  constructor(all: HeldTogether, tooMuch: () => void) {
    this.#message = new Held(all, tooMuch)
  }

  get octets(): number {
    return this.#message.octets
  }

  /** Follows what the client sends to the engine. */
  follow(data: Buffer): void {
    if (!this.#message.isOver) this.#frames.follow(data)
  }

  /** The connection has ended. */
  end(): void {
    this.#message.end()
  }
}
