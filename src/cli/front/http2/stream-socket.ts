// One connection of HTTP/1.1 to the front, made of streams of HTTP/2, one after the other. ClientConnection reads
// requests from it and writes answers to it, as it does with the socket of a client. So a stream has the same limits,
// deadlines and statements as a client's connection, and its end is that of a client who hangs up.
import { constants } from 'node:http2'
import type { ServerHttp2Stream } from 'node:http2'
import { Duplex } from 'node:stream'
import { LAST_CHUNK, chunkOf } from '../chunked-body.ts'
import { AnswerReader } from './answer-reader.ts'
import type { AnswerSink } from './answer-reader.ts'
import type { BodyFraming, RequestText } from './request-text.ts'

const { NGHTTP2_NO_ERROR } = constants
/** The highest status that a stream can have. An answer with a higher one (stated-status.ts) gets 500. */
const HIGHEST_STATUS = 599

type Done = (error?: Error | null) => void

interface Exchange {
  readonly stream: ServerHttp2Stream
  readonly answer: AnswerReader
  readonly framing: BodyFraming
  /** Octets of the body so far. */
  received: number
  /** The body is complete. */
  isSent: boolean
  /** The answer is complete, though the client may have to take some of it. */
  isAnswered: boolean
  /** Ends the write that completed the answer. */
  end?: Done
}

export class StreamSocket extends Duplex {
  readonly #onFree: () => void
  readonly #answerMs: number
  #exchange: Exchange | undefined

  /**
   * @param answerMs how long a client may take nothing of a complete answer
   * @param onFree is called when an exchange is over and the next stream may come
   */
  constructor(answerMs: number, onFree: () => void) {
    super()
    this.#answerMs = answerMs
    this.#onFree = onFree
    this.once('finish', () => this.destroy())
  }

  /** Whether it takes a stream. */
  get isFree(): boolean {
    return this.#exchange === undefined && !this.destroyed && !this.writableEnded
  }

  /** Takes the next stream, whose errors are heard elsewhere, with its request. */
  serve(stream: ServerHttp2Stream, { head, body, isHead }: RequestText): void {
    const exchange: Exchange = {
      stream,
      answer: new AnswerReader(isHead, sinkOf(stream)),
      framing: body,
      received: 0,
      isSent: body === 'none' || body === 0,
      isAnswered: false,
    }
    this.#exchange = exchange
    stream.on('data', (data: Buffer) => this.#take(exchange, data))
    stream.on('end', () => this.#end(exchange))
    stream.on('close', () => {
      if (this.#exchange !== exchange) return
      this.#exchange = undefined
      exchange.end?.()
      if (exchange.isAnswered && exchange.isSent) this.#onFree()
      else this.destroy()
    })
    this.push(head)
  }

  // ---- the request

  override _read(): void {
    this.#exchange?.stream.resume()
  }

  #take(exchange: Exchange, data: Buffer): void {
    if (this.#exchange !== exchange || exchange.isAnswered || data.length === 0) return
    exchange.received += data.length
    const { framing, stream } = exchange
    if (typeof framing === 'number' && exchange.received > framing) return void this.destroy()
    if (!this.push(framing === 'chunked' ? chunkOf([data]) : data)) stream.pause()
  }

  #end(exchange: Exchange): void {
    if (this.#exchange !== exchange || exchange.isAnswered || exchange.isSent) return
    const { framing, received } = exchange
    if (typeof framing === 'number' && received !== framing) return void this.destroy()
    exchange.isSent = true
    if (framing === 'chunked') this.push(LAST_CHUNK)
  }

  // ---- the answer

  override _write(octets: Buffer, _encoding: BufferEncoding, done: Done): void {
    const exchange = this.#exchange
    if (exchange === undefined) return done() // nobody is there to read it
    const { content, isLast } = exchange.answer.read(octets)
    if (!isLast) return send(exchange.stream, content, done)
    // a callback for the last data would get an error: Node closes the stream before it calls back
    exchange.end = done
    sendLast(exchange.stream, content)
    this.#finish(exchange)
  }

  #finish(exchange: Exchange): void {
    exchange.isAnswered = true
    endStream(exchange.stream, exchange.isSent, this.#answerMs)
  }

  /** The front ends the connection after its last answer. */
  override _final(done: Done): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    // a complete answer has ended its exchange: its write waits for that
    if (exchange?.answer.endsWithConnection) this.#finish(exchange)
    else if (exchange !== undefined) breakOff(exchange.stream)
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    if (exchange !== undefined && !exchange.isAnswered) breakOff(exchange.stream)
    done(error)
  }
}

/**
 * Ends a stream whose answer is written. Nobody needs the rest of its body; it is read, because an unread one keeps the
 * stream.
 * @param isSent the client has sent the whole body
 * @param answerMs how long the client may take nothing
 */
export function endStream(stream: ServerHttp2Stream, isSent: boolean, answerMs: number): void {
  if (!stream.writableEnded) stream.end()
  stream.setTimeout(answerMs, () => breakOff(stream))
  if (isSent) return
  const close = (): void => stream.close(NGHTTP2_NO_ERROR)
  stream.resume()
  if (stream.writableFinished) close()
  else stream.once('finish', close)
}

function sinkOf(stream: ServerHttp2Stream): AnswerSink {
  return {
    goOn: () => {
      if (hasNoHead(stream)) stream.additionalHeaders({ ':status': 100 })
    },
    head: (status, fields, isWhole) => {
      if (!hasNoHead(stream)) return
      const possible = status > HIGHEST_STATUS ? 500 : status
      try {
        stream.respond({ ':status': possible, ...Object.fromEntries(fields) }, { endStream: isWhole })
      } catch (error) {
        // the headers may be those of a server behind the engine, and HTTP/2 cannot have all of HTTP/1.1's
        stream.destroy(error instanceof Error ? error : undefined)
      }
    },
  }
}

/** Node ends the writing side of a HEAD itself, before its answer. */
const hasNoHead = (stream: ServerHttp2Stream): boolean => !stream.destroyed && !stream.closed && !stream.headersSent

const isOpen = (stream: ServerHttp2Stream): boolean => !stream.destroyed && !stream.closed && !stream.writableEnded

/**
 * Resets the stream, INTERNAL_ERROR. `close` would send an end before that, and the client would take what it has for
 * the whole answer.
 */
const breakOff = (stream: ServerHttp2Stream): void => void stream.destroy(new Error('the answer was broken off'))

/** @param done is called when the stream no longer needs the data */
function send(stream: ServerHttp2Stream, content: readonly Buffer[], done: Done): void {
  const last = content.at(-1)
  if (last === undefined || !isOpen(stream)) return done()
  for (const data of content.slice(0, -1)) stream.write(data)
  stream.write(last, () => done())
}

function sendLast(stream: ServerHttp2Stream, content: readonly Buffer[]): void {
  const last = content.at(-1)
  if (last === undefined || !isOpen(stream)) return
  for (const data of content.slice(0, -1)) stream.write(data)
  stream.end(last)
}
