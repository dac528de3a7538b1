// Takes an answer in HTTP/1.1 apart into what HTTP/2 has of it: its header fields and its content. The answer is the
// engine's, or the front's own.
import { ChunkedBody } from '../chunked-body.ts'
import { parseResponseHead } from '../http-framing.ts'
import { OF_CONNECTIONS } from './request-text.ts'

export interface AnswerSink {
  /** The server wants the body now. */
  goOn(): void
  /** @param isWhole no content follows */
  head(status: number, fields: ReadonlyMap<string, string | string[]>, isWhole: boolean): void
}

/** What some octets of an answer have. */
export interface AnswerPart {
  /** As long valid as these octets. */
  readonly content: readonly Buffer[]
  /** The answer ends with them. */
  readonly isLast: boolean
}

const END_OF_HEAD = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)
/** The only ones whose values cannot be joined, or that clients do not take apart. */
const SEPARATE = new Set(['set-cookie', 'warning'])

/** Of one request. */
export class AnswerReader {
  readonly #isHead: boolean
  readonly #sink: AnswerSink
  #head: Buffer = NOTHING
  #body: ChunkedBody | 'until-close' | number | undefined
  #isComplete = false

  /** @param isHead the request was a HEAD */
  constructor(isHead: boolean, sink: AnswerSink) {
    this.#isHead = isHead
    this.#sink = sink
  }

  /** Whether the end of the connection is the end of the answer. */
  get endsWithConnection(): boolean {
    return this.#body === 'until-close'
  }

  read(octets: Buffer): AnswerPart {
    const content: Buffer[] = []
    let at = 0
    while (this.#body === undefined && !this.#isComplete) {
      const next = this.#readHead(octets, at)
      if (next === undefined) return { content, isLast: false }
      at = next
    }
    if (!this.#isComplete) this.#isComplete = this.#readBody(at === 0 ? octets : octets.subarray(at), content)
    return { content, isLast: this.#isComplete }
  }

  /** @returns the index behind the head; undefined where it is not there yet */
  #readHead(octets: Buffer, at: number): number | undefined {
    const before = this.#head.length
    const rest = octets.subarray(at)
    const head = before === 0 ? rest : Buffer.concat([this.#head, rest])
    const end = head.indexOf(END_OF_HEAD)
    if (end < 0) {
      // the octets are only lent
      this.#head = before === 0 ? Buffer.from(rest) : head
      return undefined
    }
    this.#head = NOTHING
    this.#take(head.toString('latin1', 0, end + 2))
    return at + end + END_OF_HEAD.length - before
  }

  #take(text: string): void {
    const { status, body } = parseResponseHead(text, this.#isHead)
    if (status === 100) return this.#sink.goOn()
    if (status < 200) return
    this.#isComplete = body === 'none'
    this.#body = body === 'chunked' ? new ChunkedBody() : body === 'none' ? undefined : body
    this.#sink.head(status, fieldsOf(text), this.#isComplete)
  }

  /** @returns whether the body ends in these octets */
  #readBody(octets: Buffer, content: Buffer[]): boolean {
    if (this.#body instanceof ChunkedBody) return this.#body.read(octets, 0, (data) => content.push(data)) >= 0
    if (octets.length > 0) content.push(octets)
    if (typeof this.#body !== 'number') return false
    this.#body -= octets.length
    return this.#body <= 0
  }
}

/** @param text the lines of a head, each with its CRLF */
function fieldsOf(text: string): ReadonlyMap<string, string | string[]> {
  const fields = new Map<string, string | string[]>()
  for (const line of text.split('\r\n').slice(1, -1)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    if (colon <= 0 || OF_CONNECTIONS.has(name) || name === 'te') continue // TE is for requests alone
    const value = line.slice(colon + 1).trim()
    const earlier = fields.get(name)
    if (SEPARATE.has(name)) fields.set(name, earlier === undefined ? value : [earlier, value].flat())
    else fields.set(name, earlier === undefined ? value : `${String(earlier)}, ${value}`)
  }
  return fields
}
