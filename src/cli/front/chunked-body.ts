// Chunked bodies (RFC 9112, section 7.1), with every CRLF in its place. Whatever another reader could take for the
// end of a line, or of the body, is an error.
import { MalformedRequest } from './http-framing.ts'

/** The most bytes of chunk extensions and trailers, which are not read. */
const MAX_UNREAD = 16 << 10
/** Up to 4 GiB a chunk; all engines agree on numbers of this length. */
const MAX_DIGITS = 8

/** Takes a chunked body apart as its octets arrive. */
export class ChunkedBody {
  #state: State = 'size'
  #size = 0
  #digits = 0
  #unread = 0

  /**
   * Returns the index behind the body's last octet, or -1 where the body continues. Skips extensions and trailers.
   * @param onData receives the content of chunks
   * @throws MalformedRequest
   */
  read(octets: Buffer, from: number, onData: (data: Buffer) => void): number {
    let at = from
    while (at < octets.length) {
      if (this.#state === 'data') {
        const step = Math.min(this.#size, octets.length - at)
        onData(octets.subarray(at, at + step))
        this.#size -= step
        at += step
        if (this.#size === 0) this.#state = 'CR after data'
        continue
      }
      this.#state = this.#after(octets[at++]!)
      if (this.#state === 'end') return at
    }
    return -1
  }

  #after(octet: number): State {
    switch (this.#state) {
      case 'size':
        return this.#afterSize(octet)
      case 'extension':
        return octet === CR ? 'LF after size' : this.#passOver(octet, 'extension')
      case 'LF after size':
        expectLF(octet)
        return this.#size === 0 ? 'trailer' : 'data'
      case 'CR after data':
        if (octet !== CR) throw malformed()
        return 'LF after data'
      case 'LF after data':
        expectLF(octet)
        this.#digits = 0
        return 'size'
      case 'trailer':
        if (octet === CR) return 'last LF'
        if (octet === 0x20 || octet === 0x09) throw malformed() // it would continue the line before
        return this.#passOver(octet, 'in trailer')
      case 'in trailer':
        return octet === CR ? 'LF in trailer' : this.#passOver(octet, 'in trailer')
      case 'LF in trailer':
        expectLF(octet)
        return 'trailer'
      case 'last LF':
        expectLF(octet)
        return 'end'
      case 'data':
      case 'end':
        throw new Error(`an octet of a chunked body in the state ${this.#state}`)
    }
  }

  #afterSize(octet: number): State {
    const digit = hexDigit(octet)
    if (digit >= 0) {
      if (++this.#digits > MAX_DIGITS) throw new MalformedRequest(400, 'chunk too large')
      this.#size = this.#size * 16 + digit
      return 'size'
    }
    if (this.#digits === 0) throw malformed()
    if (octet === CR) return 'LF after size'
    if (octet === 0x3b) return 'extension' // ;
    throw malformed()
  }

  #passOver(octet: number, state: State): State {
    if ((octet < 0x20 && octet !== 0x09) || octet === 0x7f) throw malformed()
    if (++this.#unread > MAX_UNREAD) throw new MalformedRequest(400, 'too much around the chunks')
    return state
  }
}

type State =
  | 'size'
  | 'extension'
  | 'LF after size'
  | 'data'
  | 'CR after data'
  | 'LF after data'
  | 'trailer'
  | 'in trailer'
  | 'LF in trailer'
  | 'last LF'
  | 'end'

const LF = 10
const CR = 13

const malformed = (): MalformedRequest => new MalformedRequest(400, 'malformed chunk')

function expectLF(octet: number): void {
  if (octet !== LF) throw malformed()
}

function hexDigit(octet: number): number {
  if (octet >= 48 && octet <= 57) return octet - 48
  const lower = octet | 0x20
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}

export const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** A chunk with all of the data. */
export function chunkOf(data: readonly Buffer[]): Buffer {
  const size = data.reduce((sum, { length }) => sum + length, 0)
  return Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), ...data, CRLF])
}

const CRLF = Buffer.from('\r\n')
