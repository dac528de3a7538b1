// The TLS front of the local server. It ends TLS, asks clients for certificates and passes every connection's bytes on to
// a connection of its own to the engine, and the answers back, untouched and unbuffered; heads are read, bodies only
// counted. Into the head of a request goes one header with what only the front knows. Its name is a secret of this run:
// a client cannot send it, not even inside a body.
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { tlsClientAuth } from './client-certificate.ts'
import type { TlsClientAuth } from './client-certificate.ts'
import { MalformedRequest, parseRequestHead, parseResponseHead } from './http-framing.ts'
import type { Framing, RequestHead } from './http-framing.ts'
import type { Credential } from './certificate.ts'

export interface FrontOptions {
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  readonly server: Credential
  /** PEM: clients' certificates are verified against these. */
  readonly clientAuthorities: readonly string[]
  /** Path of the engine's socket, once it listens there. */
  readonly engine: () => Promise<string>
  /** More than these are told to come back later (429), before anything runs out. Default: no limit. */
  readonly maxConnections?: number
  /** Name of the header that becomes `request.cf` in the Worker. */
  readonly cfHeader: string
}

export interface Front {
  readonly port: number
  /** Takes no more connections and requests, lets answers under way come to their end for `graceMs`, then closes. */
  close(graceMs: number): Promise<void>
}

/** What the Worker finds in `request.cf`; undefined where there is nothing to say. */
interface RequestCf {
  readonly tlsClientAuth?: TlsClientAuth
  /** The request's method, where the engine cannot carry it and was given POST. */
  readonly method?: string
}

/** Throws the error of `listen` where the address cannot be had. */
export async function startFront(options: FrontOptions): Promise<Front> {
  const connections = new Set<Connection>()
  const server = createServer({
    cert: options.server.certificate,
    key: options.server.key,
    ca: [...options.clientAuthorities],
    requestCert: true,
    rejectUnauthorized: false, // the Worker answers 401, as kube-apiserver does
    ALPNProtocols: ['http/1.1', 'http/1.0'],
    minVersion: 'TLSv1.2',
  })
  server.on('secureConnection', (socket) => {
    const connection = new Connection(socket, options, connections.size >= (options.maxConnections ?? Infinity))
    connections.add(connection)
    socket.on('close', () => connections.delete(connection))
  })
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  const sweep = setInterval(() => connections.forEach((connection) => connection.closeIfIdle(IDLE_CLIENT_MS)), 30_000)
  sweep.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port, // of a server that listens on TCP
    async close(graceMs) {
      clearInterval(sweep)
      server.close()
      connections.forEach((connection) => connection.finish())
      const until = Date.now() + graceMs
      while (connections.size > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 10))
      connections.forEach((connection) => connection.destroy())
    },
  }
}

/** As kube-apiserver, which waits a minute and a half for the next request; a little more costs nothing. */
const IDLE_CLIENT_MS = 180_000
/** A WebSocket on which nothing happens has no heartbeat of its own. */
const KEEP_ALIVE_MS = 30_000
/** workerd closes a connection after 15 s without a request; an older one is not used again. */
const REUSE_ENGINE_MS = 12_000
const ENGINE_WAIT_MS = 10_000
/** kube-apiserver's limit (Go's default for a server). */
const MAX_HEAD = 1 << 20
/** The engine takes no URL of 64 KiB, and what precedes the path in it is the client's affair. */
const MAX_TARGET = 65_000
/** What is still read, and thrown away, of a request that was answered early. */
const LINGER_MS = 1_000
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)

/** The methods that workerd passes to a Worker. */
const CARRIED_METHODS = new Set(
  (
    'GET HEAD POST PUT DELETE PATCH PURGE OPTIONS TRACE COPY LOCK MKCOL MOVE PROPFIND PROPPATCH SEARCH UNLOCK ACL ' +
    'REPORT MKACTIVITY CHECKOUT MERGE MSEARCH NOTIFY SUBSCRIBE UNSUBSCRIBE'
  ).split(' '),
)

/** A client's connection and the one to the engine that belongs to it. */
class Connection {
  readonly #client: TLSSocket
  readonly #options: FrontOptions
  readonly #isOneTooMany: boolean
  readonly #clientAuth: TlsClientAuth | undefined
  /** The header line that most requests of this connection get. */
  readonly #cfLine: string
  #engine: Socket | undefined
  /** What the engine gets once the connection to it is there. */
  #waiting: Buffer[] | undefined

  // Requests: what is not yet a whole head, or how much of a body is still to come.
  #head: Buffer = NOTHING
  #requestBody: Exclude<Framing, 'until-close'> = 0

  // Answers that are still to come, by request: whether it was a HEAD.
  #awaited: boolean[] = []
  #answerHead: Buffer = NOTHING
  #answerBody: Framing | undefined
  #answeredAt = 0
  #last = false

  #state: 'http' | 'tunnel' | 'finishing' | 'lingering' = 'http'

  /** @param isOneTooMany its first request is refused */
  constructor(client: TLSSocket, options: FrontOptions, isOneTooMany: boolean) {
    this.#isOneTooMany = isOneTooMany
    this.#client = client
    this.#options = options
    this.#clientAuth = tlsClientAuth(client)
    this.#cfLine = this.#clientAuth ? this.#header({ tlsClientAuth: this.#clientAuth }) : ''
    this.#answeredAt = Date.now()
    client.setNoDelay(true)
    client.setKeepAlive(true, KEEP_ALIVE_MS)
    client.on('data', (data: Buffer) => this.#fromClient(data))
    client.on('drain', () => this.#engine?.resume())
    client.on('error', () => this.destroy())
    client.on('close', () => this.#engine?.destroy())
  }

  closeIfIdle(afterMs: number): void {
    if (this.#isIdle && Date.now() - this.#answeredAt > afterMs) this.#client.end()
  }

  /** No further requests; ends once what was asked is answered. */
  finish(): void {
    if (this.#state === 'tunnel' || this.#isIdle) this.destroy()
    else this.#state = 'finishing'
  }

  destroy(): void {
    this.#client.destroy()
    this.#engine?.destroy()
  }

  get #isIdle(): boolean {
    return this.#state !== 'tunnel' && this.#awaited.length === 0 && this.#head.length === 0 && this.#requestBody === 0
  }

  #header(cf: RequestCf): string {
    // HTTP headers are Latin-1, JSON need not be.
    const json = JSON.stringify(cf).replace(
      /[\u007f-\uffff]/g,
      (char) => '\\u' + char.charCodeAt(0).toString(16).padStart(4, '0'),
    )
    return `${this.#options.cfHeader}: ${json}\r\n`
  }

  // ---- from the client to the engine

  #fromClient(data: Buffer): void {
    if (this.#state === 'lingering') return
    if (this.#state === 'tunnel') return this.#toEngine(data)
    try {
      this.#forward(this.#head.length > 0 ? Buffer.concat([this.#head, data]) : data)
    } catch (error) {
      if (!(error instanceof MalformedRequest)) throw error
      this.#refuse(error)
    }
  }

  #forward(data: Buffer): void {
    this.#head = NOTHING
    let at = 0
    while (at < data.length) {
      const body = this.#endOfBody(data, at)
      if (body > at) {
        this.#toEngine(data.subarray(at, body))
        at = body
        continue
      }
      if (this.#state === 'finishing') return
      while (data[at] === 13 || data[at] === 10) at++ // empty lines before a request line are to be ignored
      const endOfHead = data.indexOf(END_OF_HEAD, at)
      if (endOfHead < 0) {
        if (data.length - at > MAX_HEAD) throw new MalformedRequest(431, 'header too large')
        this.#head = at > 0 ? data.subarray(at) : data
        return
      }
      const text = data.toString('latin1', at, endOfHead + 2)
      const head = parseRequestHead(text)
      if (this.#isOneTooMany) throw new MalformedRequest(429, 'there are as many connections as this server can hold')
      this.#awaited.push(head.method === 'HEAD')
      this.#requestBody = head.body
      const bodyFrom = endOfHead + 4
      const bodyEnd = this.#endOfBody(data, bodyFrom)
      this.#renewEngine()
      this.#toEngine(this.#request(head, text, data, at, bodyFrom, bodyEnd))
      at = bodyEnd
    }
  }

  /** The index behind what `data` has, from `at` on, of the present request's body; notes how much is left. */
  #endOfBody(data: Buffer, at: number): number {
    const body = this.#requestBody
    if (typeof body === 'number') {
      const end = Math.min(data.length, at + body)
      this.#requestBody = body - (end - at)
      return end
    }
    const end = body.end(data, at)
    if (end < 0) return data.length
    this.#requestBody = 0
    return end
  }

  /** A request's octets as the engine gets them: `data` from `start` to `end`, with the head's end at `body`. */
  #request(head: RequestHead, text: string, data: Buffer, start: number, body: number, end: number): Buffer {
    const carried = CARRIED_METHODS.has(head.method)
    const target = engineTarget(head.target)
    if (target.length > MAX_TARGET)
      throw new MalformedRequest(414, `path and query may have ${MAX_TARGET} octets when they are percent-encoded`)
    const cfLine = carried
      ? this.#cfLine
      : this.#header({ ...(this.#clientAuth && { tlsClientAuth: this.#clientAuth }), method: head.method })
    if (carried && target === head.target && cfLine === '') {
      return start === 0 && end === data.length ? data : data.subarray(start, end)
    }
    const line = `${carried ? head.method : 'POST'} ${target} HTTP/${head.version}\r\n`
    const rewritten = Buffer.from(line + cfLine + text.slice(text.indexOf('\r\n') + 2) + '\r\n', 'latin1')
    return end > body ? Buffer.concat([rewritten, data.subarray(body, end)]) : rewritten
  }

  /** Before a request after a long silence: the engine may be about to close the connection. */
  #renewEngine(): void {
    if (this.#engine && this.#awaited.length === 1 && Date.now() - this.#answeredAt > REUSE_ENGINE_MS) {
      const old = this.#engine
      this.#engine = undefined
      old.destroy()
    }
  }

  #toEngine(data: Buffer): void {
    this.#answeredAt = Date.now()
    if (this.#engine) {
      if (!this.#engine.writable || this.#engine.errored) return // it has answered already, or is gone
      if (!this.#engine.write(data)) this.#client.pause()
    } else if (this.#waiting) {
      this.#waiting.push(data)
    } else {
      this.#waiting = [data]
      this.#client.pause()
      this.#connectEngine(Date.now() + ENGINE_WAIT_MS)
    }
  }

  #connectEngine(until: number): void {
    const failed = (): void => {
      if (this.#client.destroyed) return
      if (Date.now() < until) setTimeout(() => this.#connectEngine(until), 20)
      else this.#refuse(new MalformedRequest(503, 'the engine does not answer'))
    }
    this.#options.engine().then((path) => {
      const socket = connect(path)
      socket.once('error', failed)
      socket.once('connect', () => {
        if (this.#client.destroyed) return void socket.destroy()
        socket.removeListener('error', failed)
        this.#useEngine(socket)
        const waiting = Buffer.concat(this.#waiting ?? [])
        this.#waiting = undefined
        if (socket.write(waiting)) this.#client.resume()
      })
    }, failed)
  }

  // ---- from the engine to the client

  #useEngine(socket: Socket): void {
    this.#engine = socket
    readOnAfterFailedWrite(socket)
    socket.on('data', (data: Buffer) => this.#fromEngine(data))
    socket.on('drain', () => this.#client.resume())
    socket.on('error', () => {}) // 'close' follows
    socket.on('end', () => this.#engineClosed(socket))
    socket.on('close', () => this.#engineClosed(socket))
  }

  #fromEngine(data: Buffer): void {
    this.#answeredAt = Date.now()
    if (this.#state !== 'tunnel') this.#follow(data)
    if (!this.#client.write(data)) this.#engine?.pause()
    if (this.#state === 'finishing' && this.#awaited.length === 0) this.#client.end()
  }

  /** Keeps account of which answer this belongs to. */
  #follow(data: Buffer): void {
    let at = 0
    while (at < data.length) {
      if (this.#answerBody === undefined) {
        at = this.#followHead(data, at)
        continue
      }
      const body = this.#answerBody
      if (body === 'until-close') return
      if (typeof body === 'number') {
        const step = Math.min(body, data.length - at)
        this.#answerBody = body - step
        at += step
      } else {
        const end = body.end(data, at)
        at = end < 0 ? data.length : end
        if (end >= 0) this.#answerBody = 0
      }
      if (this.#answerBody === 0) this.#answered()
    }
  }

  #followHead(data: Buffer, at: number): number {
    const before = this.#answerHead.length
    const all = before > 0 ? Buffer.concat([this.#answerHead, data.subarray(at)]) : at > 0 ? data.subarray(at) : data
    const end = all.indexOf(END_OF_HEAD)
    if (end < 0) {
      this.#answerHead = all
      return data.length
    }
    this.#answerHead = NOTHING
    const next = at + end + 4 - before
    const head = parseResponseHead(all.toString('latin1', 0, end + 2), this.#awaited[0] ?? false)
    if (head.status === 101) {
      this.#state = 'tunnel'
      return data.length
    }
    if (head.status < 200) return next // an interim answer: the real one follows
    this.#last = head.last
    this.#answerBody = head.body
    if (head.body === 0) this.#answered()
    return next
  }

  #answered(): void {
    this.#answerBody = undefined
    this.#awaited.shift()
  }

  #engineClosed(socket: Socket): void {
    if (this.#engine !== socket) return
    this.#engine = undefined
    socket.destroy()
    if (this.#state === 'http' && this.#isIdle && !this.#last) return // it only grew tired of waiting
    this.#linger()
  }

  /** Closes, but reads on for a moment: a client that still sends could lose the answer to a reset. */
  #linger(): void {
    this.#state = 'lingering'
    this.#client.resume()
    this.#client.end()
    setTimeout(() => this.#client.destroy(), LINGER_MS).unref()
  }

  #refuse(error: MalformedRequest): void {
    if (this.#client.destroyed) return
    const text = `${error.status} ${REASONS[error.status] ?? 'Error'}`
    const isJson = error.status === 414
    const body = isJson ? tooLongStatus(error.message) : `${text}: ${error.message}`
    if (this.#awaited.length <= 1 && this.#answerBody === undefined) {
      this.#client.write(
        `HTTP/1.1 ${text}\r\nContent-Type: ${isJson ? 'application/json' : 'text/plain; charset=utf-8'}\r\nConnection: close\r\n` +
          (error.status === 429 ? 'Retry-After: 1\r\n' : '') +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      )
    }
    this.#linger()
  }
}

/**
 * An engine that answers before it has read the whole body closes the connection while we still write. On a failed write
 * Node destroys a socket at once, and the answer that waits to be read with it; here only the end of reading does.
 */
function readOnAfterFailedWrite(socket: Socket): void {
  const destroy = socket.destroy.bind(socket)
  socket.destroy = (error?: NodeJS.ErrnoException) => {
    if (error?.syscall !== 'write') return destroy(error)
    // Node marks the reading side, too; it has no public way to take that back. Where there is no such mark, there is nothing to do.
    const { _readableState: reading } = socket as Socket & { _readableState?: { errored: Error | null } }
    if (reading) reading.errored = null
    socket.read(0)
    return socket
  }
}

/** A well-formed request of the API, so its client is told as the API tells things. */
const tooLongStatus = (message: string): string =>
  JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `Request entity too large: ${message}`,
    reason: 'RequestEntityTooLarge',
    code: 414,
  })

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  414: 'URI Too Long',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  505: 'HTTP Version Not Supported',
}

/** workerd takes only what a URL may hold, and cuts at '#'; Go's server, which clients may count on, takes any octet. */
function engineTarget(target: string): string {
  const path = target.startsWith('/') ? target : originForm(target)
  return /[^!-~]|[<>`#]/.test(path)
    ? path.replace(/[^!-~]|[<>`#]/g, (char) => '%' + char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0'))
    : path
}

function originForm(target: string): string {
  const absolute = /^https?:\/\/[^/?#]*(.*)$/i.exec(target)
  if (absolute) return absolute[1]?.startsWith('/') ? absolute[1] : '/' + (absolute[1] ?? '')
  return '/' + target // '*', or the host and port of CONNECT
}
