// Follows the engine's answers as they pass, to know where each ends.
import { hasDate } from './answer-date.ts'
import { ChunkedBody } from './chunked-body.ts'
import { parseResponseHead, tunnelIn } from './http-framing.ts'
import type { ResponseHead } from './http-framing.ts'

const END_OF_HEAD = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)

export type Progress = 'goes on' | 'switched protocols' | 'complete' | 'complete and more'

interface HeadInData extends ResponseHead {
  readonly next: number
  readonly dateAt: number | undefined
}

/** Of one request. */
export class AnswerFollower {
  readonly #isHead: boolean
  readonly #mayTunnel: boolean
  #head: Buffer = NOTHING
  #isBodiless = false
  #body: ChunkedBody | 'until-close' | number | undefined
  /** The engine closes the connection after this answer. */
  isLast = false
  hasBegun = false
  /** Where the data that was followed last takes a Date: before the blank line of a head that has none. */
  dateAt: number | undefined
  /** Where the data that was followed last goes on in the other protocol, if it has switched. */
  switchedAt = 0
  /** The ticket of the tunnel to another server, to which the engine wants the client joined. */
  tunnel: string | undefined

  /**
   * @param isHead the request was a HEAD
   * @param mayTunnel the request asked for another protocol
   */
  constructor(isHead: boolean, mayTunnel = false) {
    this.#isHead = isHead
    this.#mayTunnel = mayTunnel
  }

  get isHeadWhole(): boolean {
    return this.#body !== undefined || this.#isBodiless
  }

  /** @param data valid only during the call */
  follow(data: Buffer): Progress {
    this.hasBegun = true
    this.dateAt = undefined
    let at = 0
    while (this.#body === undefined) {
      const head = this.#readHead(data, at)
      if (head === undefined) return 'goes on'
      at = head.next
      if (head.status === 101) {
        this.switchedAt = at
        return 'switched protocols'
      }
      if (head.status < 200) continue // an interim answer, which another one follows
      this.dateAt = head.dateAt
      this.isLast = head.last
      this.#isBodiless = head.body === 'none'
      if (head.body === 'none') return at < data.length ? 'complete and more' : 'complete'
      this.#body = head.body === 'chunked' ? new ChunkedBody() : head.body
    }
    const end = this.#endOfBody(data, at)
    if (end === undefined) return 'goes on'
    return end < data.length ? 'complete and more' : 'complete'
  }

  #endOfBody(data: Buffer, at: number): number | undefined {
    if (this.#body === 'until-close' || this.#body === undefined) return undefined
    if (typeof this.#body === 'number') {
      const end = Math.min(data.length, at + this.#body)
      this.#body -= end - at
      return this.#body === 0 ? end : undefined
    }
    const end = this.#body.read(data, at, () => {})
    return end < 0 ? undefined : end
  }

  #readHead(data: Buffer, at: number): HeadInData | undefined {
    const before = this.#head.length
    const rest = at === 0 ? data : data.subarray(at)
    const all = before > 0 ? Buffer.concat([this.#head, rest]) : rest
    const end = all.indexOf(END_OF_HEAD)
    // a copy, because the buffer is used again after the call
    this.#head = end < 0 ? Buffer.from(all) : NOTHING
    if (end < 0) return undefined
    const text = all.toString('latin1', 0, end + 2)
    if (this.#mayTunnel) this.tunnel = tunnelIn(text)
    const head = parseResponseHead(text, this.#isHead)
    const next = at + end + END_OF_HEAD.length - before
    const blankLine = next - 2
    // where the blank line began in the data before, that has been passed on
    return { ...head, next, dateAt: blankLine < 0 || hasDate(text) ? undefined : blankLine }
  }
}
