// Follows the frames of a WebSocket (RFC 6455) as their octets pass, from either side. Nothing of a payload is kept.
import { OPCODES } from './websocket-frames.ts'

const LONGEST_HEAD = 14

export interface FollowedFrame {
  readonly opcode: number
  readonly isControl: boolean
  /** Whether the message ends with this frame. */
  readonly isLast: boolean
  /** Octets of the payload. */
  readonly length: number
}

export interface FrameEvents {
  onBegin?(frame: FollowedFrame): void
  /** Octets of the payload have come. */
  onPayload?(frame: FollowedFrame, octets: number): void
  onEnd(frame: FollowedFrame): void
}

export class FrameFollower {
  readonly #events: FrameEvents
  /** The beginning of a frame, as long as its head is not whole. Bound: LONGEST_HEAD. */
  #head: Buffer = Buffer.alloc(0)
  #frame: FollowedFrame | undefined
  /** Octets of the frame that are still to come. */
  #left = 0

  constructor(events: FrameEvents) {
    this.#events = events
  }

  /** @param data valid only during the call */
  follow(data: Buffer): void {
    for (let at = 0; at < data.length;)
      at += this.#frame === undefined ? this.#begin(data.subarray(at)) : this.#payload(this.#frame, data.length - at)
  }

  /** @returns the octets used */
  #payload(frame: FollowedFrame, there: number): number {
    const used = Math.min(there, this.#left)
    this.#left -= used
    this.#events.onPayload?.(frame, used)
    this.#endIfWhole(frame)
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
    const opcode = head[0]! & 0x0f
    const frame = { opcode, isControl: opcode >= OPCODES.close, isLast: (head[0]! & 0x80) !== 0, length }
    this.#frame = frame
    this.#left = length
    this.#events.onBegin?.(frame)
    this.#endIfWhole(frame)
    return size - before
  }

  #endIfWhole(frame: FollowedFrame): void {
    if (this.#left > 0) return
    this.#frame = undefined
    this.#events.onEnd(frame)
  }
}
