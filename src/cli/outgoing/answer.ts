// An answer of another server (HTTP/1.1 or 1.0, RFC 9112), read strictly and as a whole. Node's client makes a
// message, streams and a dozen events for each answer, which cost several times as much as this reader.
import { Gathered } from '../../base/gathered.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import { ChunkedBody } from '../front/chunked-body.ts'
import { WELL_FORMED } from '../front/http-framing.ts'

export interface ReadAnswer {
  readonly status: number
  /** '' where the answer has none. */
  readonly contentType: string
  readonly retryAfter: string
  readonly isGzip: boolean
  readonly body: Buffer
  /** Milliseconds for which the connection takes another call; undefined where the server did not say. */
  readonly keptMs: number | undefined
}

/** The limit of Node's client. */
const MAX_HEAD = 16 << 10
/** The most interim answers, as in Go's client. */
export const MAX_INTERIM = 5

const END_OF_HEAD = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)
const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: [^\r]*)?\r\n/
// pattern: of heads that are well formed and have a bound
const HEADER =
  /\r\n(connection|content-encoding|content-length|content-type|keep-alive|retry-after|transfer-encoding):([^\r]*)/gi

type Header =
  | 'connection'
  | 'content-encoding'
  | 'content-length'
  | 'content-type'
  | 'keep-alive'
  | 'retry-after'
  | 'transfer-encoding'

type Head = Omit<ReadAnswer, 'body'> & { readonly framing: 'none' | 'chunked' | 'until-close' | number }

export class OutgoingAnswer {
  readonly #most: number
  readonly #arrived: (octets: number) => void
  #head: Head | undefined
  /** Octets of an incomplete head. */
  #ahead: Buffer = NOTHING
  #interim = 0
  /** Bound: `most` octets. */
  readonly #body = new Gathered()
  #chunked: ChunkedBody | undefined
  hasBegun = false

  /**
   * @param most octets of the body as it is sent
   * @param arrived is told how many of them are here
   */
  constructor(most: number, arrived: (octets: number) => void = () => {}) {
    this.#most = most
    this.#arrived = arrived
  }

  /**
   * @returns the answer once it is complete
   * @throws CallFailed, or Error with one of Node's codes for an invalid answer
   */
  read(data: Buffer): ReadAnswer | undefined {
    this.hasBegun ||= data.length > 0
    const rest = this.#head === undefined ? this.#readHead(data) : data
    return rest === undefined ? undefined : this.#readBody(rest)
  }

  /**
   * The other side has ended the stream.
   * @throws CallFailed, Error with one of Node's codes
   */
  end(): ReadAnswer {
    if (!this.hasBegun) throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
    if (this.#head?.framing !== 'until-close') throw new CallFailed('unexpected EOF')
    return this.#whole(true)
  }

  /** @returns the bytes behind the head */
  #readHead(data: Buffer): Buffer | undefined {
    for (let all = this.#ahead.length === 0 ? data : Buffer.concat([this.#ahead, data]); ;) {
      const end = all.indexOf(END_OF_HEAD)
      if (end > MAX_HEAD || (end < 0 && all.length > MAX_HEAD)) throw malformed()
      this.#ahead = all
      if (end < 0) return undefined
      const head = readHead(all.toString('latin1', 0, end + 2))
      all = all.subarray(end + END_OF_HEAD.length)
      if (head.status >= 200) {
        this.#head = head
        this.#ahead = NOTHING
        if (head.framing === 'chunked') this.#chunked = new ChunkedBody()
        return all
      }
      // an answer that nobody asked for would shift the following ones
      if (head.status === 101 || ++this.#interim > MAX_INTERIM) throw malformed()
    }
  }

  #readBody(data: Buffer): ReadAnswer | undefined {
    const { framing } = this.#head!
    if (framing === 'none') return this.#whole(data.length > 0)
    if (framing === 'chunked') {
      const end = this.#chunksIn(data)
      return end < 0 ? undefined : this.#whole(end < data.length)
    }
    if (framing === 'until-close') return void this.#keep(data)
    if (framing > this.#most) throw tooLong(this.#most)
    const missing = framing - this.#body.length
    this.#keep(data.length > missing ? data.subarray(0, missing) : data)
    return this.#body.length < framing ? undefined : this.#whole(data.length > missing)
  }

  #chunksIn(data: Buffer): number {
    try {
      return this.#chunked!.read(data, 0, (chunk) => this.#keep(chunk))
    } catch (error) {
      throw error instanceof CallFailed ? error : malformed()
    }
  }

  #keep(chunk: Buffer): void {
    if (this.#body.length + chunk.length > this.#most) throw tooLong(this.#most)
    this.#body.add(chunk)
    this.#arrived(this.#body.length)
  }

  /** @param saysMore the server sent bytes that nobody asked for, so the connection cannot be used again */
  #whole(saysMore: boolean): ReadAnswer {
    const { framing: _, keptMs, ...head } = this.#head!
    const { buffer, byteOffset, length } = this.#body.whole()
    return { ...head, body: Buffer.from(buffer, byteOffset, length), keptMs: saysMore ? 0 : keptMs }
  }
}

const malformed = (): Error => Object.assign(new Error('malformed HTTP response'), { code: 'HPE_INVALID_CONSTANT' })

const tooLong = (most: number): CallFailed => new CallFailed(`the answer is longer than ${most} bytes`)

/** The last head. A server repeats it for each short answer, except for the date. */
let last: { readonly text: string; readonly head: Head } | undefined

/**
 * @param text in Latin-1, with the CRLF of its last line
 * @throws Error
 */
function readHead(text: string): Head {
  if (last?.text === text) return last.head
  const head = parseHead(text)
  last = { text, head }
  return head
}

/** @throws Error */
function parseHead(text: string): Head {
  const [, minor, digits] = STATUS_LINE.exec(text) ?? []
  if (digits === undefined || !WELL_FORMED.test(text)) throw malformed()
  const found: { [name in Header]?: string } = {}
  HEADER.lastIndex = 0
  for (let match = HEADER.exec(text); match !== null; match = HEADER.exec(text)) {
    const name = match[1]!.toLowerCase() as Header // the pattern matches only these names
    const value = match[2]!.trim()
    const before = found[name]
    if (before === undefined) found[name] = value
    else if (name === 'connection') found[name] = `${before},${value}`
    // headers that frame the body may occur once; of others the first counts
    else if (name === 'content-length' || name === 'transfer-encoding') throw malformed()
  }
  const status = Number(digits)
  const framing = framingOf(status, found)
  return {
    status,
    contentType: found['content-type'] ?? '',
    retryAfter: found['retry-after'] ?? '',
    isGzip: found['content-encoding']?.toLowerCase() === 'gzip',
    framing,
    keptMs: keptMs(found, minor === '0' || framing === 'until-close'),
  }
}

function framingOf(
  status: number,
  { 'transfer-encoding': coding, 'content-length': length }: { readonly [name in Header]?: string },
): Head['framing'] {
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || length !== undefined)) throw malformed()
  if (length !== undefined && !/^\d{1,15}$/.test(length)) throw malformed()
  if (status < 200 || status === 204 || status === 304) return 'none'
  if (coding !== undefined) return 'chunked'
  if (length === undefined) return 'until-close'
  return Number(length) === 0 ? 'none' : Number(length)
}

/** The last call on a connection is a second before the server closes it. */
function keptMs(
  { connection = '', 'keep-alive': hint = '' }: { readonly [name in Header]?: string },
  isLast: boolean,
): number | undefined {
  if (isLast || /\bclose\b/i.test(connection)) return 0
  const seconds = /\btimeout=(\d{1,6})\b/i.exec(hint)?.[1]
  return seconds === undefined ? undefined : Math.max(0, Number(seconds) - 1) * 1000
}
