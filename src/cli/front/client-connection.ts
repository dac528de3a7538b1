// One client's connection, or a part of one (http2/stream-socket.ts). Requests go to the engine one after the other,
// each after the end of the answer before it. If the engine saw other boundaries than this reader, it would answer when
// nothing was asked; that ends the connection.
import type { Duplex } from 'node:stream'
import { Held } from '../held-together.ts'
import { SHORT_HEAD } from '../../request/short-head.ts'
import type { HeldTogether } from '../held-together.ts'
import { withDate } from './answer-date.ts'
import { AnswerFollower } from './answer-follower.ts'
import { Attestation } from './attestation.ts'
import { LAST_CHUNK, chunkOf } from './chunked-body.ts'
import type { TlsClientAuth } from './client-certificate.ts'
import { ClientMessages } from './client-messages.ts'
import { ClientPace } from './client-pace.ts'
import { FrameFollower } from './frame-follower.ts'
import { engineHead, engineRequest } from './engine-head.ts'
import { EngineLink } from './engine-link.ts'
import type { EngineAddress } from './engine-link.ts'
import { MalformedRequest } from './http-framing.ts'
import type { RequestHead } from './http-framing.ts'
import { CONTINUE, refusal } from './refusal.ts'
import { RequestReader } from './request-reader.ts'
import { withStatedStatus } from './stated-status.ts'
import { join } from './tunnels.ts'
import type { Tunnels } from './tunnels.ts'
import { OPCODES } from './websocket-frames.ts'

/** Deadlines of one connection, in milliseconds. */
export interface Deadlines {
  /** From the first octet of a head, or from the handshake, to the end of the head. */
  readonly head: number
  /** In each such span a body must make `BODY_PROGRESS` octets of progress, or end. */
  readonly body: number
  /** From an answer to the next request. */
  readonly idle: number
  /** From the time at which the client stops taking octets until it takes some. */
  readonly answer: number
  /** From the engine's end of a WebSocket to the client's. kube-apiserver waits for none. */
  readonly close: number
}

/** kube-apiserver waits a minute and a half for the next request; a little longer costs nothing. */
export const DEADLINES: Deadlines = { head: 10_000, body: 10_000, idle: 180_000, answer: 120_000, close: 10_000 }
/** Octets; even the slowest links are faster. */
const BODY_PROGRESS = 4096
/** Milliseconds for which the rest of a request is read and dropped after an early answer. */
const LINGER_MS = 1_000
/** Octets that a client may send while it waits for an answer. */
const MAX_AHEAD = 64 << 10

/** Without the head itself, which may be long and is kept as long as a watch lasts. */
interface Exchange extends Pick<RequestHead, 'body' | 'wantsUpgrade' | 'isLast'> {
  readonly answer: AnswerFollower
  isAnswered: boolean
  /** The start of an answer that may name a tunnel, until its head is complete. */
  held: Buffer[]
}

type Awaited = 'head' | 'body' | 'next' | 'answer taken' | 'close'

interface ConnectionOptions {
  /** The client's. */
  readonly address: string
  /** Undefined where the client has presented none. */
  readonly certificate: TlsClientAuth | undefined
  /** There are too many connections, so the first request is refused. */
  readonly isToBeRefused: boolean
  /** Each request gets a header with the client's address. */
  readonly tellsAddress: boolean
  readonly tunnels: Tunnels
  /** What clients have sent of heads that are not whole, and of requests whose turn has not come. */
  readonly ahead: HeldTogether
  /** The heads of requests whose answers are not whole, beyond SHORT_HEAD of each: the engine keeps them until then. */
  readonly heads: HeldTogether
  readonly messages: HeldTogether
  /** What clients have yet to take of the engine's WebSockets. */
  readonly unread: HeldTogether
}

/** Shows an IPv4 address as such, where a socket for both families shows it as IPv6. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/, '')

const PASSED_ON = /\/(?:proxy|exec|attach|portforward)(?:[/?]|$)/
const ENCODED = /%([0-7][0-9a-f])/gi

/** Whether the engine passes the request on with the client's address. It reads the path decoded. */
const isPassedOn = (target: string): boolean =>
  PASSED_ON.test(
    target.includes('%')
      ? target.replace(ENCODED, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)))
      : target,
  )

export class ClientConnection {
  readonly #client: Duplex
  readonly #address: string
  readonly #deadlines: Deadlines
  readonly #isToBeRefused: boolean
  /** Whether each request gets a statement. */
  readonly #isAttested: boolean
  readonly #attestation: Attestation
  readonly #engine: EngineLink
  readonly #tunnels: Tunnels
  /** What the client sends over a WebSocket to the engine. */
  readonly #messages: ClientMessages
  readonly #reader = new RequestReader()
  /** What waits in the reader. */
  readonly #ahead: Held
  /** The head of the request under way. */
  readonly #head: Held
  /** What the engine has sent over a WebSocket, and the client has yet to take. */
  readonly #unread: Held
  /** What the engine sends over a WebSocket: its end, which the client has to answer. */
  readonly #engineFrames = new FrameFollower({
    onEnd: ({ opcode }) => {
      if (opcode === OPCODES.close) this.#isClosing = true
    },
  })
  /** The engine has ended the WebSocket. */
  #isClosing = false
  #state: 'http' | 'tunnel' | 'finishing' | 'lingering' = 'http'
  /** The request in progress. */
  #exchange: Exchange | undefined
  #engineIsFull = false

  /** The client's next deadline; undefined where none is set. */
  #awaited: { what: Awaited; since: number } | undefined
  #bodyOctets = 0
  readonly #pace = new ClientPace()

  constructor(
    client: Duplex,
    engine: () => Promise<EngineAddress>,
    deadlines: Deadlines,
    { address, certificate, isToBeRefused, tellsAddress, tunnels, ahead, heads, messages, unread }: ConnectionOptions,
  ) {
    this.#client = client
    this.#address = address
    this.#deadlines = deadlines
    this.#isToBeRefused = isToBeRefused
    this.#tunnels = tunnels
    this.#ahead = new Held(ahead, () => this.destroy())
    this.#head = new Held(heads, () => this.destroy())
    this.#messages = new ClientMessages(messages, () => this.destroy())
    this.#unread = new Held(unread, () => this.destroy())
    this.#isAttested = certificate !== undefined || tellsAddress
    this.#attestation = new Attestation(certificate, plainAddress(address))
    this.#engine = new EngineLink(engine, {
      onData: (data, done) => this.#fromEngine(data, done),
      onDrain: () => this.#engineHasRoom(),
      onClosed: () => this.#engineClosed(),
      onUnreachable: () => this.#refuse(new MalformedRequest(503, 'the engine does not answer')),
    })
    this.#await('head')
    client.on('data', (data: Buffer) => this.#fromClient(data))
    client.on('drain', () => this.#clientHasRoom())
    client.on('error', () => this.destroy())
    client.on('close', () => {
      this.#ahead.leave()
      this.#head.leave()
      this.#messages.end()
      this.#unread.leave()
      this.#engine.close()
    })
  }

  /** Accepts no further requests; ends once the pending ones are answered. */
  finish(): void {
    if (this.#state === 'tunnel' || this.#isIdle) this.destroy()
    else this.#state = 'finishing'
  }

  destroy(): void {
    this.#client.destroy()
    this.#engine.close()
  }

  get #isIdle(): boolean {
    return this.#state !== 'tunnel' && this.#exchange === undefined && this.#reader.length === 0
  }

  // ---- deadlines

  /** The client's address and when it stopped taking octets; undefined where it takes them. */
  get stalled(): { readonly address: string; readonly since: number } | undefined {
    if (this.#awaited?.what !== 'answer taken') return undefined
    return { address: this.#address, since: this.#awaited.since }
  }

  /** The client's address and since when it takes too little at a time; undefined where it takes enough. */
  slow(now: number): { readonly address: string; readonly since: number } | undefined {
    const since = this.#pace.slowSince(now)
    return since === undefined ? undefined : { address: this.#address, since }
  }

  /** The client's address and since when it owes more of a body; undefined where it owes none. */
  get owing(): { readonly address: string; readonly since: number } | undefined {
    if (this.#awaited?.what !== 'body') return undefined
    return { address: this.#address, since: this.#awaited.since }
  }

  /** Ends the connection where the client missed a deadline before `now`. */
  checkDeadline(now: number): void {
    const awaited = this.#awaited
    if (awaited === undefined) return
    const limits = { head: 'head', body: 'body', next: 'idle', 'answer taken': 'answer', close: 'close' } as const
    if (now - awaited.since < this.#deadlines[limits[awaited.what]]) return
    switch (awaited.what) {
      case 'head':
        return this.#reader.length === 0
          ? this.destroy()
          : this.#refuse(new MalformedRequest(408, 'the head did not come'))
      case 'body':
        // a full engine is not the client's fault
        if (this.#bodyOctets < BODY_PROGRESS && !this.#engineIsFull)
          return this.#refuse(new MalformedRequest(408, 'the body does not get on'))
        return this.#await('body')
      case 'next':
      case 'close':
        return this.#linger()
      case 'answer taken':
        return this.destroy()
    }
  }

  #await(what: Awaited): void {
    this.#awaited = { what, since: performance.now() }
    this.#bodyOctets = 0
  }

  // ---- from the client to the engine

  #fromClient(data: Buffer): void {
    if (this.#state === 'lingering') return
    if (this.#state === 'tunnel') {
      this.#inTunnel(data)
      return this.#regulate()
    }
    this.#reader.push(data)
    if (this.#awaited?.what === 'next') this.#await('head')
    this.#advance()
  }

  /** Goes on as far as the received octets and the pending answers allow. */
  #advance(): void {
    try {
      while (this.#exchange === undefined ? this.#beginNext() : this.#continueBody(this.#exchange));
    } catch (error) {
      if (!(error instanceof MalformedRequest)) throw error
      this.#refuse(error)
    }
    this.#ahead.holds(this.#reader.length)
    this.#regulate()
  }

  /** @returns whether a request has begun */
  #beginNext(): boolean {
    if (this.#state !== 'http') return false
    const part = this.#reader.next()
    if (part === undefined) return false
    if (part.kind !== 'head') throw new Error(`a ${part.kind} where a request begins`)
    if (this.#isToBeRefused) throw new MalformedRequest(429, 'there are as many connections as this server can hold')
    const { head, octets } = part
    this.#head.holds(Math.max(0, octets.length - SHORT_HEAD))
    if (this.#head.isOver) return false
    const request = engineRequest(head)
    // behind addresses that the client says, the true one must follow
    const needsAddress = head.saysAddresses || isPassedOn(request.target)
    const isAttested = this.#isAttested || request.method !== head.method || needsAddress
    const statement = ({ key }: EngineAddress): string =>
      isAttested ? this.#attestation.line(key, head.method, request.method, request.target) : ''
    const { body, wantsUpgrade, isLast } = head
    this.#exchange = {
      body,
      wantsUpgrade,
      isLast,
      answer: new AnswerFollower(request.method === 'HEAD', wantsUpgrade),
      isAnswered: false,
      held: [],
    }
    this.#awaited = undefined
    const hasRoom = this.#engine.begin((address) => engineHead(head, octets, request, statement(address)), isAttested)
    if (!hasRoom) this.#engineIsFull = true
    if (this.#reader.isWithinBody) this.#await('body')
    if (head.expectsContinue && this.#reader.isWithinBody && this.#reader.length === 0) this.#client.write(CONTINUE)
    return true
  }

  /** @returns whether there may be more */
  #continueBody(exchange: Exchange): boolean {
    if (!this.#reader.isWithinBody) return false
    const part = this.#reader.next()
    if (part === undefined) return false
    const isChunked = exchange.body === 'chunked'
    if (part.kind === 'body') {
      this.#bodyOctets += part.data.reduce((sum, { length }) => sum + length, 0)
      if (isChunked) this.#toEngine(chunkOf(part.data))
      else for (const data of part.data) this.#toEngine(data)
    } else {
      if (isChunked) this.#toEngine(LAST_CHUNK)
      if (this.#awaited?.what === 'body') this.#awaited = undefined
      if (exchange.isAnswered) this.#endExchange()
    }
    return true
  }

  /** The engine's tunnels are WebSockets. */
  #inTunnel(data: Buffer): void {
    this.#messages.follow(data)
    this.#toEngine(data)
  }

  #toEngine(data: Buffer): void {
    if (!this.#engine.send(data)) this.#engineIsFull = true
  }

  #engineHasRoom(): void {
    this.#engineIsFull = false
    if (this.#awaited?.what === 'body') this.#await('body') // it was not the client who was slow
    this.#regulate()
  }

  /** Reads from the client while there is room. */
  #regulate(): void {
    const isAhead = this.#exchange !== undefined && !this.#reader.isWithinBody && this.#reader.length > MAX_AHEAD
    if (this.#state !== 'lingering' && (this.#engineIsFull || isAhead)) this.#client.pause()
    else this.#client.resume()
  }

  // ---- from the engine to the client

  #fromEngine(octets: Buffer, done?: () => void): void {
    if (this.#state === 'tunnel') return this.#fromTunnel(octets, done)
    if (this.#state === 'lingering') return
    const exchange = this.#exchange
    if (exchange === undefined || exchange.isAnswered) return this.destroy() // an answer without a request
    const stated = exchange.answer.hasBegun ? octets : withStatedStatus(octets)
    const progress = exchange.answer.follow(stated)
    const parts = withDate(stated, exchange.answer.dateAt)
    if (progress === 'complete and more') return this.destroy()
    if (progress === 'switched protocols' && !exchange.wantsUpgrade) return this.destroy()
    if (exchange.wantsUpgrade && progress !== 'switched protocols') {
      if (!exchange.answer.isHeadWhole) return void exchange.held.push(...parts)
      if (exchange.answer.tunnel !== undefined) return this.#joinTunnel(exchange.answer.tunnel)
    }
    for (const earlier of exchange.held.splice(0)) this.#toClient(earlier)
    for (const part of parts) this.#toClient(part, part === parts.at(-1) ? done : undefined)
    if (progress === 'switched protocols') this.#beginTunnel(stated.subarray(exchange.answer.switchedAt))
    if (progress === 'complete') {
      exchange.isAnswered = true
      if (!this.#reader.isWithinBody) this.#endExchange()
    }
  }

  #fromTunnel(octets: Buffer, done?: () => void): void {
    this.#followEngine(octets)
    this.#toSocket(octets, done)
  }

  #followEngine(octets: Buffer): void {
    this.#engineFrames.follow(octets)
    // a client that has yet to take octets has a deadline already
    if (this.#isClosing && this.#awaited === undefined) this.#await('close')
  }

  /** @param written is called when the client has the data */
  #toClient(data: Buffer, written?: () => void): void {
    const isTaken = this.#client.write(data, written)
    this.#pace.sent(data.length, !isTaken, performance.now())
    if (isTaken) return
    this.#engine.pause()
    if (this.#awaited?.what !== 'answer taken') this.#await('answer taken')
  }

  /**
   * Over a WebSocket the engine sends without end and does not tell its Worker how much waits. So nothing waits there:
   * what the client does not take waits here, where it is counted.
   */
  #toSocket(data: Buffer, written?: () => void): void {
    const isTaken = this.#client.write(data, () => {
      written?.()
      this.#unread.holds(this.#client.writableLength)
    })
    this.#pace.sent(data.length, !isTaken, performance.now())
    if (!isTaken && this.#awaited?.what !== 'answer taken') this.#await('answer taken')
    this.#unread.holds(this.#client.writableLength)
  }

  #clientHasRoom(): void {
    this.#pace.tookAll(performance.now())
    this.#engine.resume()
    if (this.#state === 'lingering') return
    if (this.#awaited?.what === 'answer taken') {
      this.#awaited = undefined
      if (this.#reader.isWithinBody) this.#await('body')
      else if (this.#isClosing) this.#await('close')
      else if (this.#exchange === undefined) this.#await('next')
    }
  }

  /** @param said by the engine already */
  #beginTunnel(said: Buffer): void {
    this.#state = 'tunnel'
    this.#followEngine(said)
    const ahead = this.#reader.rest()
    this.#ahead.leave()
    if (ahead.length > 0) this.#inTunnel(ahead)
    this.#regulate()
  }

  /** The engine has finished with this connection. From here on bytes go between the client and another server. */
  #joinTunnel(ticket: string): void {
    const tunnel = this.#tunnels.take(ticket)
    if (tunnel === undefined) return this.destroy()
    this.#state = 'tunnel'
    this.#engine.close()
    for (const event of ['data', 'drain']) this.#client.removeAllListeners(event)
    this.#ahead.leave()
    this.#head.leave()
    join(this.#client, this.#reader.rest(), tunnel)
  }

  #endExchange(): void {
    const isLast = this.#exchange?.isLast || this.#exchange?.answer.isLast
    this.#exchange = undefined
    this.#head.holds(0)
    if (this.#state === 'finishing' || isLast) return this.#linger()
    if (this.#awaited?.what !== 'answer taken') this.#await(this.#reader.length > 0 ? 'head' : 'next')
    this.#advance()
  }

  #engineClosed(): void {
    if (this.#state === 'http' && this.#exchange === undefined) return // the engine only closed an idle connection
    this.#linger()
  }

  /** Closes, but reads on for a moment: a client that is still sending could lose the answer to a reset. */
  #linger(): void {
    this.#state = 'lingering'
    this.#await('answer taken')
    this.#client.resume()
    this.#client.end(() => setTimeout(() => this.destroy(), LINGER_MS).unref())
  }

  #refuse(error: MalformedRequest): void {
    if (this.#client.destroyed || this.#state === 'lingering') return
    const isUnanswered = this.#exchange === undefined || !this.#exchange.answer.hasBegun
    this.#engine.close()
    if (isUnanswered) this.#client.write(refusal(error))
    this.#linger()
  }
}
