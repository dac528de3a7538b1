// Makes calls for the engine, which cannot trust a given authority only: to webhooks, authenticators and authorizers.
// The engine posts each to a socket in a directory that only the user who started the server may enter
// (src/webhooks/by-front.ts). outgoing/exchanges.ts makes streamed requests.
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { createGunzip } from 'node:zlib'
import { BoundedMap } from '../../base/bounded-map.ts'
import {
  ANSWER_HEADER,
  FAILED,
  LINE_FEED,
  MOST_IN_HEADER,
  NOTHING_MORE,
  RETRY_HEADER,
  STATUS_HEADER,
  TYPE_HEADER,
} from '../../webhooks/by-front.ts'
import type { CallFailure } from '../../webhooks/failure-text.ts'
import { BUSY, DEADLINE, NO_ROOM } from '../../webhooks/failure-text.ts'
import type { OutgoingCall } from '../../webhooks/outgoing-call.ts'
import { CallFailed, MAX_ANSWER } from '../../webhooks/outgoing-call.ts'
import { Held, HeldTogether } from '../held-together.ts'
import { Ending } from './call-ending.ts'
import { readPosts } from '../engine/posts.ts'
import type { Posted } from '../engine/posts.ts'
import { KeptConnections, StaleConnection, placeOf } from './kept-connections.ts'
import type { Place, ReadingRules } from './kept-connections.ts'
import { listenAt } from '../engine/listen-at.ts'
import type { ReadAnswer } from './answer.ts'
import { failureOf } from './failure.ts'

export interface OutgoingCalls {
  close(): void
}

/** The engine's calls at once, each on a connection of its own. Further calls fail. */
const MAX_UNDER_WAY = 4_096
/**
 * The most octets of the answers that are arriving, and of those that the engine has yet to take. Beyond that the calls
 * with the longest ones end.
 */
export const MOST_ARRIVING = 64 << 20

/** @param most see MAX_UNDER_WAY */
export async function serveOutgoingCalls(path: string, most = MAX_UNDER_WAY): Promise<OutgoingCalls> {
  const connections = new KeptConnections()
  const arriving = new HeldTogether(MOST_ARRIVING)
  /** Bound: MAX_UNDER_WAY. */
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    readPosts(socket, (post, ending) => answerTo({ connections, arriving }, post, ending))
  })
  server.maxConnections = most
  await listenAt(server, path)
  return {
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      connections.close()
    },
  }
}

interface Calls {
  readonly connections: KeptConnections
  readonly arriving: HeldTogether
}

/** @returns the answer for the engine; undefined where it does not wait any more */
async function answerTo({ connections, arriving }: Calls, post: Buffer, ending: Ending): Promise<Posted | undefined> {
  const answered = new Held(arriving, () => ending.comes('no room'))
  try {
    const end = post.indexOf('\n')
    const plan = planOf(post, end)
    ending.at(plan.timeoutMs)
    const rules = { most: MAX_ANSWER, arrived: (octets: number) => answered.holds(octets) }
    const answer = await made(connections, plan, post.subarray(end + 1), rules, ending)
    const body = answer.isGzip ? await unzipped(answer.body) : answer.body
    const short = shortAnswer(answer, body)
    if (short !== undefined) {
      answered.leave()
      return { message: message(`HTTP/1.1 200 OK\r\n${ANSWER_HEADER}: ${short}`, NOTHING) }
    }
    answered.holds(body.length)
    if (ending.why === 'no room') throw new CallFailed('no room')
    const { status, contentType, retryAfter } = answer
    const head = `HTTP/1.1 200 OK\r\n${STATUS_HEADER}: ${status}\r\n${TYPE_HEADER}: ${contentType}\r\n${RETRY_HEADER}: ${retryAfter}`
    return { message: message(head, body), taken: () => answered.leave() }
  } catch (error) {
    answered.leave()
    if (ending.why === 'given up') return undefined
    const failure = failureFor(ending, failureOf(error))
    return {
      message: message(
        `HTTP/1.1 ${FAILED} Bad Gateway\r\ncontent-type: application/json`,
        Buffer.from(JSON.stringify(failure)),
      ),
    }
  } finally {
    ending.forget()
  }
}

function failureFor({ why }: Ending, known: CallFailure): CallFailure {
  if (why === 'no room') return { code: NO_ROOM, message: '' }
  return why === 'too late' && known.code !== BUSY ? { code: DEADLINE, message: '' } : known
}

const NOTHING = Buffer.alloc(0)
/** Four parts without control characters. */
const SHORT = /^\d{3}\t[\x20-\x7e]*\t[\x20-\x7e]*\t[\x20-\x7e]*$/

/** @returns the answer as a header; undefined where it does not fit */
function shortAnswer({ status, contentType, retryAfter }: ReadAnswer, body: Buffer): string | undefined {
  if (body.length > MOST_IN_HEADER) return undefined
  const hasLineFeed = body.at(-1) === 0x0a
  const text = body.toString('latin1', 0, hasLineFeed ? body.length - 1 : body.length)
  const short = `${status}\t${contentType}\t${retryAfter}\t${text}`
  return SHORT.test(short) ? `${short}${hasLineFeed ? LINE_FEED : NOTHING_MORE}` : undefined
}

/**
 * One buffer, for one system call.
 * @param head in Latin-1, without the line that frames the body
 */
function message(head: string, body: Buffer): Buffer {
  const before = `${head}\r\ncontent-length: ${body.length}\r\n\r\n`
  const whole = Buffer.allocUnsafe(before.length + body.length)
  whole.write(before, 0, 'latin1')
  body.copy(whole, before.length)
  return whole
}

/** A parsed call. */
interface Plan {
  readonly place: Place
  /** Without the line that frames the body. */
  readonly head: string
  readonly isGet: boolean
  readonly timeoutMs: number
}

/** The most parsed calls that are kept: a webhook's calls have the same line each time. */
const MAX_PLANS = 200
/** Characters. */
const MAX_LINE = 32 << 10
const plans = new BoundedMap<string, Plan>({ entries: MAX_PLANS, size: 8 << 20 })

/** The last call, which is often repeated. Comparing octets is faster than decoding them. */
let last: { readonly line: Buffer; readonly plan: Plan } | undefined

function planOf(post: Buffer, end: number): Plan {
  if (last !== undefined && last.line.compare(post, 0, end) === 0) return last.plan
  const plan = planOfLine(post.toString('utf8', 0, end))
  // a copy, because the line is a part of the post, which would be kept as a whole
  if (end <= MAX_LINE) last = { line: Buffer.from(post.subarray(0, end)), plan }
  return plan
}

function planOfLine(line: string): Plan {
  const known = plans.get(line)
  if (known !== undefined) return known
  // only the engine writes it (webhooks/by-front.ts)
  const plan = planned(JSON.parse(line) as OutgoingCall)
  if (line.length <= MAX_LINE) plans.set(line, plan)
  return plan
}

/** @throws CallFailed */
function planned({ method, url: text, isPlain = false, headers, timeoutMs, ...where }: OutgoingCall): Plan {
  const url = new URL(text)
  if (url.protocol !== (isPlain ? 'http:' : 'https:')) throw new CallFailed('only https is called')
  const own = { Host: url.host, ...headers, 'Accept-Encoding': 'gzip' }
  const lines = Object.entries(own).map(([name, value]) => {
    // pattern: of one header
    if (!/^[\w-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw new CallFailed(`net/http: invalid header field value for "${name}"`)
    return `\r\n${name}: ${value}`
  })
  return {
    place: placeOf({
      ...where,
      isPlain,
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(url.port || (isPlain ? 80 : 443)),
    }),
    head: `${method ?? 'POST'} ${url.pathname}${url.search} HTTP/1.1${lines.join('')}`,
    isGet: method === 'GET',
    timeoutMs,
  }
}

/**
 * The other side may have closed an idle connection just now, and others with it. The call is then repeated on a new
 * one.
 */
async function made(
  connections: KeptConnections,
  { place, head, isGet }: Plan,
  body: Buffer,
  rules: ReadingRules,
  ending: Ending,
): Promise<ReadAnswer> {
  const sent = isGet ? Buffer.from(`${head}\r\n\r\n`, 'latin1') : message(head, body)
  try {
    return await connections.call(place, sent, rules, ending)
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw error
    if (ending.why !== undefined) throw error.cause
    return connections.call(place, sent, rules, ending, true)
  }
}

/**
 * Unzips as Go's HTTP client does, which asks for gzip.
 * @throws CallFailed, errors of Node
 */
function unzipped(packed: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const whole = createGunzip()
    const chunks: Buffer[] = []
    let length = 0
    whole.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > MAX_ANSWER) whole.destroy(new CallFailed(`the answer is longer than ${MAX_ANSWER} bytes`))
      else chunks.push(chunk)
    })
    whole.once('end', () => resolve(Buffer.concat(chunks, length)))
    whole.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'Z_BUF_ERROR' ? new CallFailed('unexpected EOF') : error),
    )
    whole.end(packed)
  })
}
