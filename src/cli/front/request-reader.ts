// Splits a client's octets into requests. No later reader sees the client's own framing: the engine gets checked
// heads, and bodies in the front's own frames (engineHead, ChunkedBody).
import { ChunkedBody } from './chunked-body.ts'
import { KnownLines, MalformedRequest, parseRequestHead } from './http-framing.ts'
import type { RequestHead } from './http-framing.ts'

export type RequestPart =
  | { readonly kind: 'head'; readonly head: RequestHead; /** As the client sent it. */ readonly octets: Buffer }
  /** Octets of the body without the client's framing; never empty. */
  | { readonly kind: 'body'; readonly data: readonly Buffer[] }
  /** The body is complete. Does not come for a request without a body. */
  | { readonly kind: 'end' }

/** kube-apiserver's limit (Go's default for a server). */
const MAX_HEAD = 1 << 20
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const NOTHING: Buffer = Buffer.alloc(0)
const CR = 13
const LF = 10

export class RequestReader {
  /** Octets that are not read yet: `#octets` from `#from` to `#to`. */
  #octets: Buffer = NOTHING
  #from = 0
  #to = 0
  /** No head ends before this index. */
  #searched = 0
  #body: 'none' | 'complete' | ChunkedBody | number = 'none'
  #isLast = false
  readonly #known = new KnownLines()

  /** The number of octets to be read. */
  get length(): number {
    return this.#to - this.#from
  }

  get isWithinBody(): boolean {
    return this.#body !== 'none'
  }

  push(data: Buffer): void {
    if (this.length === 0) {
      this.#octets = data
      this.#from = this.#searched = 0
      this.#to = data.length
      return
    }
    if (this.#to + data.length > this.#octets.length) this.#grow(data.length)
    data.copy(this.#octets, this.#to)
    this.#to += data.length
  }

  /** Doubles the room, so that octets which arrive one by one are not copied each time. */
  #grow(by: number): void {
    const octets = Buffer.allocUnsafe(2 * (this.length + by))
    this.#octets.copy(octets, 0, this.#from, this.#to)
    this.#searched = Math.max(0, this.#searched - this.#from)
    this.#to -= this.#from
    this.#from = 0
    this.#octets = octets
  }

  /**
   * Undefined where more octets are needed.
   * @throws MalformedRequest
   */
  next(): RequestPart | undefined {
    if (this.#body === 'none') return this.#nextHead()
    if (this.#body === 'complete') {
      this.#body = 'none'
      return { kind: 'end' }
    }
    return this.length === 0 ? undefined : this.#nextOfBody(this.#body)
  }

  /** All remaining octets, after which the connection is no longer HTTP. */
  rest(): Buffer {
    const rest = this.#octets.subarray(this.#from, this.#to)
    this.#from = this.#to
    return rest
  }

  #nextHead(): RequestPart | undefined {
    if (this.#isLast) {
      this.#from = this.#to // nobody needs them
      return undefined
    }
    // An empty line before a request is to be ignored (RFC 9112, section 2.2).
    while (this.length >= 2 && this.#octets[this.#from] === CR && this.#octets[this.#from + 1] === LF) this.#from += 2
    if (this.length === 0) return undefined
    const searchFrom = Math.max(this.#from, this.#searched - END_OF_HEAD.length)
    const end = this.#octets.subarray(0, this.#to).indexOf(END_OF_HEAD, searchFrom)
    if ((end < 0 ? this.#to : end) - this.#from > MAX_HEAD) throw new MalformedRequest(431, 'header too large')
    if (end < 0) {
      this.#searched = this.#to
      return undefined
    }
    const head = parseRequestHead(this.#octets.toString('latin1', this.#from, end + 2), this.#known)
    const octets = this.#octets.subarray(this.#from, end + END_OF_HEAD.length)
    this.#from = end + END_OF_HEAD.length
    this.#isLast = head.isLast
    this.#forget()
    this.#body = head.body === 'chunked' ? new ChunkedBody() : head.body === 0 ? 'complete' : head.body
    return { kind: 'head', head, octets }
  }

  #nextOfBody(body: ChunkedBody | number): RequestPart | undefined {
    const octets = this.#octets.subarray(0, this.#to)
    const data: Buffer[] = []
    if (typeof body === 'number') {
      const end = Math.min(this.#to, this.#from + body)
      data.push(octets.subarray(this.#from, end))
      const left = body - (end - this.#from)
      this.#body = left === 0 ? 'complete' : left
      this.#from = end
    } else {
      const end = body.read(octets, this.#from, (part) => data.push(part))
      if (end >= 0) this.#body = 'complete'
      this.#from = end < 0 ? this.#to : end
    }
    this.#forget()
    return data.length > 0 ? { kind: 'body', data } : this.next()
  }

  /** What was read may be long, and more may come late. */
  #forget(): void {
    if (this.length > 0) return
    this.#octets = NOTHING
    this.#from = this.#to = this.#searched = 0
  }
}
