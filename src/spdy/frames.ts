/** Frames of SPDY/3.1 (2.2 and 2.6): bytes into frames and back. Headers stay compressed here. */
import { joined } from '../base/bytes.ts'
import { number32, read32 } from './numbers.ts'
import { SpdyError } from './spdy-error.ts'

export const SYN_STREAM = 1
export const SYN_REPLY = 2
export const RST_STREAM = 3
export const PING = 6
export const GOAWAY = 7

export const FIN = 1
/** Statuses of RST_STREAM. */
export const PROTOCOL_ERROR = 1
export const REFUSED_STREAM = 3
export const CANCEL = 5

export type Frame =
  /** A part of a data frame, or all of it. */
  | { readonly type: 'data'; readonly stream: number; readonly data: Uint8Array; readonly isLast: boolean }
  | { readonly type: 'control'; readonly kind: number; readonly flags: number; readonly body: Uint8Array }

/** More is in no control frame that is needed here. */
const LONGEST_CONTROL = 4_096
const VERSION = 3
const CONTROL = 0x80000000

/** Cuts a stream of bytes, which come in pieces of any size, into frames. */
export class FrameReader {
  /** What is no whole frame yet. Bound: LONGEST_CONTROL and a piece. */
  private rest: Uint8Array = new Uint8Array(0)
  /** Of the data frame whose data still comes. */
  private open: { readonly stream: number; left: number; readonly isFin: boolean } | undefined;

  /** @throws SpdyError */
  *push(piece: Uint8Array): Generator<Frame> {
    let bytes = joined([this.rest, piece])
    for (;;) {
      if (this.open !== undefined) {
        const { stream, left, isFin } = this.open
        const data = bytes.subarray(0, left)
        bytes = bytes.subarray(data.length)
        this.open.left -= data.length
        const isOver = this.open.left === 0
        if (isOver) this.open = undefined
        if (data.length > 0 || isOver) yield { type: 'data', stream, data, isLast: isOver && isFin }
        if (!isOver) break
      }
      if (bytes.length < 8) break
      const [first, second] = [read32(bytes, 0), read32(bytes, 4)]
      const [flags, length] = [second >>> 24, second & 0xffffff]
      if (first < CONTROL) {
        this.open = { stream: first, left: length, isFin: (flags & FIN) !== 0 }
        bytes = bytes.subarray(8)
        continue
      }
      if (((first >>> 16) & 0x7fff) !== VERSION) throw new SpdyError('the version is not SPDY/3')
      if (length > LONGEST_CONTROL) throw new SpdyError('a control frame is too long')
      if (bytes.length < 8 + length) break
      yield { type: 'control', kind: first & 0xffff, flags, body: bytes.subarray(8, 8 + length) }
      bytes = bytes.subarray(8 + length)
    }
    this.rest = bytes.slice()
  }
}

export function dataFrame(stream: number, data: Uint8Array, isLast: boolean): Uint8Array {
  return joined([number32(stream), number32((isLast ? FIN << 24 : 0) + data.length), data])
}

export const synStream = (stream: number, headers: Uint8Array): Uint8Array =>
  // of no other stream, and of no priority
  control(SYN_STREAM, joined([number32(stream), number32(0), new Uint8Array(2), headers]))

export const synReply = (stream: number, headers: Uint8Array): Uint8Array =>
  control(SYN_REPLY, joined([number32(stream), headers]))

export const rstStream = (stream: number, status: number): Uint8Array =>
  control(RST_STREAM, joined([number32(stream), number32(status)]))

/** The other side opens no more streams. */
export const goAway = (): Uint8Array => control(GOAWAY, new Uint8Array(8))

export const pingFrame = (id: number): Uint8Array => control(PING, number32(id))

const control = (kind: number, body: Uint8Array): Uint8Array =>
  joined([number32(CONTROL + VERSION * 0x10000 + kind), number32(body.length), body])
