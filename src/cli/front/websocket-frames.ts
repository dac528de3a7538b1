// Frames of WebSockets (RFC 6455), from a server's side.
import { createHash } from 'node:crypto'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** The answer to the key of a client's handshake. */
export const acceptOf = (key: string): string => createHash('sha1').update(`${key}${GUID}`).digest('base64')

export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
const MAX_CONTROL = 125
const NORMAL_CLOSURE = Buffer.from([0x03, 0xe8])

function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  const head = Buffer.alloc(length < 126 ? 2 : length < 1 << 16 ? 4 : 10)
  head[0] = 0x80 | opcode
  if (length < 126) head[1] = length
  else if (length < 1 << 16) {
    head[1] = 126
    head.writeUInt16BE(length, 2)
  } else {
    head[1] = 127
    head.writeBigUInt64BE(BigInt(length), 2)
  }
  return Buffer.concat([head, payload])
}

export const messageOf = (payload: Buffer): Buffer => frame(OPCODES.binary, payload)
export const pongOf = (payload: Buffer): Buffer => frame(OPCODES.pong, payload)
export const closing = (): Buffer => frame(OPCODES.close, NORMAL_CLOSURE)

export interface MessageEvents {
  /**
   * A part of a message.
   * @param begins it is the first part
   */
  onPart(part: Buffer, begins: boolean): void
  onPing(payload: Buffer): void
  onClose(): void
}

interface Frame {
  readonly opcode: number
  readonly isLast: boolean
  readonly mask: Buffer
  readonly length: number
  /** Octets that were read. */
  at: number
}

/** Bytes that are no valid WebSocket frame of a client. */
export class MalformedFrame extends Error {}

/** Reads a client's frames as octets arrive, and passes messages on in parts. */
export class WebSocketReader {
  readonly #events: MessageEvents
  #ahead: Buffer = Buffer.alloc(0)
  #frame: Frame | undefined
  #begins = true

  constructor(events: MessageEvents) {
    this.#events = events
  }

  /** @throws MalformedFrame */
  read(data: Buffer): void {
    let rest = this.#ahead.length === 0 ? data : Buffer.concat([this.#ahead, data])
    while (rest.length > 0) {
      const used = this.#frame === undefined ? this.#readHead(rest) : this.#readPayload(this.#frame, rest)
      if (used === 0) break
      rest = rest.subarray(used)
    }
    this.#ahead = rest
  }

  /** @returns the octets used; 0 where more are needed */
  #readHead(data: Buffer): number {
    if (data.length < 2) return 0
    const short = data[1]! & 0x7f
    const size = short === 127 ? 14 : short === 126 ? 8 : 6
    if ((data[0]! & 0x70) !== 0 || (data[1]! & 0x80) === 0) throw new MalformedFrame('a frame that no client may send')
    if (data.length < size) return 0
    const length = short === 127 ? Number(data.readBigUInt64BE(2)) : short === 126 ? data.readUInt16BE(2) : short
    const opcode = data[0]! & 0x0f
    const isLast = (data[0]! & 0x80) !== 0
    const isControl = opcode >= OPCODES.close
    if (isControl && (length > MAX_CONTROL || !isLast)) throw new MalformedFrame('a control frame that is too long')
    if (!isControl && (opcode === OPCODES.continuation) === this.#begins)
      throw new MalformedFrame('a message within another, or the middle of none')
    this.#frame = { opcode, isLast, mask: Buffer.from(data.subarray(size - 4, size)), length, at: 0 }
    if (length === 0) this.#part(this.#frame, Buffer.alloc(0))
    return size
  }

  #readPayload(frame: Frame, data: Buffer): number {
    const isControl = frame.opcode >= OPCODES.close
    if (isControl && data.length < frame.length) return 0
    const part = Buffer.from(data.subarray(0, frame.length - frame.at))
    for (let at = 0; at < part.length; at++) part[at] = part[at]! ^ frame.mask[(frame.at + at) & 3]!
    frame.at += part.length
    this.#part(frame, part)
    return part.length
  }

  #part(frame: Frame, part: Buffer): void {
    if (frame.at === frame.length) this.#frame = undefined
    switch (frame.opcode) {
      case OPCODES.continuation:
      case OPCODES.text:
      case OPCODES.binary: {
        const begins = this.#begins
        this.#begins = frame.isLast && frame.at === frame.length
        // an empty frame does not begin a message
        if (part.length > 0 || !begins) return this.#events.onPart(part, begins)
        return
      }
      case OPCODES.close:
        return this.#events.onClose()
      case OPCODES.ping:
        return this.#events.onPing(part)
      case OPCODES.pong:
        return
    }
    throw new MalformedFrame('a frame of no known kind')
  }
}
