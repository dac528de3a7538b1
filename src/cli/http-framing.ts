// HTTP/1.1 message framing (RFC 9112), as much as a proxy needs that passes bytes on as they are: where a head ends,
// how long the body after it is. The strict reading is on purpose: what two readers could understand differently is refused.

/** How the end of a body is found. A number is the count of octets that are left. */
export type Framing = number | ChunkedBody | 'until-close'

export interface RequestHead {
  readonly method: string
  readonly target: string
  readonly version: '1.0' | '1.1'
  readonly body: Exclude<Framing, 'until-close'>
}

/** A request that no server may guess about; `status` and `reason` go to the client. */
export class MalformedRequest extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const FRAMING_HEADERS = /\r\n(content-length|transfer-encoding)[ \t]*:[ \t]*([^\r]*)(?=\r\n)/gi
const BARE_OR_FOLDED_LINE = /[^\r]\n|\r[^\n]|\n[ \t]/

/** `text` is the head in Latin-1 with the CRLF of its last line. */
export function parseRequestHead(text: string): RequestHead {
  if (BARE_OR_FOLDED_LINE.test(text)) throw new MalformedRequest(400, 'malformed header')
  const line = text.slice(0, text.indexOf('\r\n'))
  const afterMethod = line.indexOf(' ')
  const beforeVersion = line.lastIndexOf(' ')
  const version = line.slice(beforeVersion + 1)
  const method = line.slice(0, afterMethod)
  const target = line.slice(afterMethod + 1, beforeVersion)
  if (afterMethod <= 0 || target === '' || target.includes(' ') || !/^[!#$%&'*+.^_`|~\w-]+$/.test(method)) {
    throw new MalformedRequest(400, 'malformed request line')
  }
  if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0') throw new MalformedRequest(505, 'unsupported protocol version')
  return { method, target, version: version === 'HTTP/1.1' ? '1.1' : '1.0', body: requestFraming(text) }
}

function requestFraming(text: string): number | ChunkedBody {
  let length: string | undefined
  let coding: string | undefined
  for (const [, name = '', value = ''] of text.matchAll(FRAMING_HEADERS)) {
    if (name.length === 'content-length'.length) {
      if (length !== undefined && length !== value.trim()) throw new MalformedRequest(400, 'two content lengths')
      length = value.trim()
    } else {
      if (coding !== undefined) throw new MalformedRequest(400, 'too many transfer encodings')
      coding = value.trim().toLowerCase()
    }
  }
  if (coding !== undefined) {
    if (coding !== 'chunked') throw new MalformedRequest(501, 'unsupported transfer encoding')
    if (length !== undefined) throw new MalformedRequest(400, 'content length and transfer encoding')
    return new ChunkedBody()
  }
  if (length === undefined) return 0
  if (!/^\d{1,15}$/.test(length)) throw new MalformedRequest(400, 'bad content length')
  return Number(length)
}

export interface ResponseHead {
  readonly status: number
  readonly body: Framing
  /** The server closes the connection after this one. */
  readonly last: boolean
}

/** `bodiless`: the answer to HEAD. */
export function parseResponseHead(text: string, bodiless: boolean): ResponseHead {
  const status = Number(text.slice(9, 12))
  const last = /\r\nconnection[ \t]*:[^\r]*\bclose\b/i.test(text)
  return {
    status,
    last,
    body: bodiless || status < 200 || status === 204 || status === 304 ? 0 : responseFraming(text),
  }
}

function responseFraming(text: string): Framing {
  let framing: Framing = 'until-close'
  for (const [, name = '', value = ''] of text.matchAll(FRAMING_HEADERS)) {
    if (name.length === 'transfer-encoding'.length) return new ChunkedBody()
    framing = Number(value)
  }
  return framing
}

/** Finds the end of a chunked body in what arrives, without touching it. */
export class ChunkedBody {
  #state: 'size' | 'extension' | 'data' | 'trailer' = 'size'
  #size = 0
  #digits = 0
  /** Octets of the chunk's data and the CRLF after it that are still to come. */
  #left = 0
  /** Octets in the present line of the trailer, but for its end. */
  #line = 0

  /** The index behind the body's last octet, or -1 where it goes on after these. */
  end(octets: Uint8Array, from: number): number {
    let at = from
    while (at < octets.length) {
      if (this.#state === 'data') {
        const step = Math.min(this.#left, octets.length - at)
        this.#left -= step
        at += step
        if (this.#left === 0) this.#begin('size')
        continue
      }
      const octet = octets[at++]!
      if (this.#state === 'trailer') {
        if (octet === LF && this.#line === 0) return at
        if (octet === LF) this.#line = 0
        else if (octet !== CR) this.#line++
      } else if (octet === LF) {
        this.#endOfSize()
      } else if (this.#state === 'size') {
        const digit = hexDigit(octet)
        if (digit < 0) this.#state = 'extension'
        else if (++this.#digits > 12) throw new MalformedRequest(400, 'chunk too large')
        else this.#size = this.#size * 16 + digit
      }
    }
    return -1
  }

  #endOfSize(): void {
    if (this.#digits === 0) throw new MalformedRequest(400, 'malformed chunk')
    if (this.#size === 0) this.#begin('trailer')
    else {
      this.#left = this.#size + 2
      this.#state = 'data'
    }
  }

  #begin(state: 'size' | 'trailer'): void {
    this.#state = state
    this.#size = this.#digits = this.#line = 0
  }
}

const LF = 10
const CR = 13

function hexDigit(octet: number): number {
  if (octet >= 48 && octet <= 57) return octet - 48
  const lower = octet | 0x20
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}
