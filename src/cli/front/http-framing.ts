// Heads of HTTP/1.1 messages (RFC 9112), read strictly: a head that two readers could understand differently is
// refused. The front frames bodies for the engine itself, so that both agree on the end of a request.
import { FRONT_STATEMENT } from '../../authentication/front-statement.ts'
import { TUNNEL_HEADER } from '../../outgoing/exchange.ts'

export interface RequestHead {
  readonly method: string
  readonly target: string
  readonly version: '1.0' | '1.1'
  /** How the client frames the body; a number is its length in octets. */
  readonly body: 'none' | 'chunked' | number
  /** The client waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean
  readonly wantsUpgrade: boolean
  /** No further request follows on this connection. */
  readonly isLast: boolean
  /** The client says for which addresses it asks. */
  readonly saysAddresses: boolean
  /** The lines after the first, each with its CRLF, in Latin-1, without those that frame or announce the body. */
  readonly lines: string
  /** `lines` and the first line are exactly the client's text. */
  readonly isUntouched: boolean
}

/** A request whose meaning is ambiguous. The client gets `status` and `reason`. */
export class MalformedRequest extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * A first line, and lines that begin with `name:`, each with its CRLF and without other control octets: no CR or LF
 * alone, no folded line, no blank before a colon.
 */
export const WELL_FORMED = /^[\t\x20-\x7e\x80-\xff]*(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*)*\r\n$/
/** The same for one line without its CRLF. */
const WELL_FORMED_LINE = /^[\t\x20-\x7e\x80-\xff]*$/
const WELL_FORMED_LINES = /^\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/
const SINGLE = /\r\n(content-length|transfer-encoding|expect|upgrade|host):([^\r]*)/g
/** Headers that only the front sets. An empty Host counts as absent. */
const FRAMING = /^(?:content-length|transfer-encoding|expect|host(?=:[ \t]*\r)):[^\r]*\r\n/gim
/** HTTP/1.0 needs no host; the engine does. */
const NO_HOST = 'Host: localhost\r\n'
/** The engine ignores the case of headers, and proxies may exchange - and _. */
const STATEMENT = new RegExp(FRONT_STATEMENT.toLowerCase().replaceAll('-', '[-_]'))
const STATEMENT_BEGIN = FRONT_STATEMENT.toLowerCase().slice(0, FRONT_STATEMENT.indexOf('-'))
/** Headers that name a user. The engine joins repeated ones with a comma and a blank, so no value may contain these. */
const OF_USERS = ['\r\nx-remote-', '\r\nimpersonate-']
// pattern: of lines that are well formed
const JOINED = /\r\n(?:x-remote-(?:group|extra-[^:]*)|impersonate-(?:group|extra-[^:]*)):[^\r]*, /
const CLOSE = /\r\nconnection:[^\r]*\bclose\b/
/** Headers that Cloudflare's edge sets. Here nobody does, so they are a client's, and nobody may take them for true. */
const OF_THE_EDGE = /^cf[-_][^:\r]*:[^\r]*\r\n/gim
const EDGE_BEGINS = ['\r\ncf-', '\r\ncf_']
const ADDRESSES = /\r\nx[-_]forwarded[-_]for:/
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** As Go's server allows. A slash would move the path in the URL that the Worker sees. */
const HOST = /^[\w!$%&'()*+,.:;=[\]~-]*$/

/** The header lines, parsed. */
type HeadLines = Omit<RequestHead, 'method' | 'target' | 'version'>

/**
 * The header lines of the last request on a connection. A client repeats them with each request, so they are parsed
 * once. In another version of HTTP they mean something else. Bound: one head of MAX_KNOWN.
 */
export class KnownLines {
  #text = ''
  #version: RequestHead['version'] | undefined
  #lines: HeadLines | undefined

  /** @param text from the CRLF of the first line on */
  find(text: string, version: RequestHead['version']): HeadLines | undefined {
    return version === this.#version && text === this.#text ? this.#lines : undefined
  }

  keep(text: string, version: RequestHead['version'], lines: HeadLines): void {
    if (text.length > MAX_KNOWN) return
    this.#text = text
    this.#version = version
    this.#lines = lines
  }
}

/** The longest head that a connection keeps. */
const MAX_KNOWN = 4 << 10

/**
 * @param text the head in Latin-1, with the CRLF of its last line
 * @throws MalformedRequest
 */
export function parseRequestHead(text: string, known = new KnownLines()): RequestHead {
  const end = text.indexOf('\r\n')
  const line = end < 0 ? text : text.slice(0, end)
  const rest = end < 0 ? '' : text.slice(end)
  const version = line.endsWith('HTTP/1.0') ? '1.0' : '1.1'
  const same = known.find(rest, version)
  if (!WELL_FORMED_LINE.test(line) || (same === undefined && !WELL_FORMED_LINES.test(rest)))
    throw new MalformedRequest(400, 'malformed header')
  // of the same length, because no octet of Latin-1 becomes two letters
  const lower = same === undefined ? text.toLowerCase() : line.toLowerCase()
  if (lower.includes(STATEMENT_BEGIN) && STATEMENT.test(lower))
    throw new MalformedRequest(400, 'a header of that name is not for clients')
  if (same !== undefined) return { ...parseRequestLine(line), ...same }
  if (OF_USERS.some((begin) => lower.includes(begin)) && JOINED.test(lower))
    throw new MalformedRequest(400, 'a group or an extra value of a user has a comma and a blank in it')
  const first = parseRequestLine(line)
  const lines = parseLines(rest, lower, version)
  known.keep(rest, version, lines)
  return { ...first, ...lines }
}

/**
 * @param rest from the CRLF of the first line on
 * @param lower the head in lower case
 */
function parseLines(rest: string, lower: string, version: RequestHead['version']): HeadLines {
  const single = singleHeaders(lower)
  checkHost(single.host, version)
  const body = bodyOf(single, version)
  // clients of SPDY announce that their POST has no body
  if (single.upgrade !== undefined && body !== 'none' && body !== 0)
    throw new MalformedRequest(400, 'an upgrade with a body')
  const isFramed = (single['content-length'] ?? single['transfer-encoding'] ?? single.expect) !== undefined
  const isNamed = single.host !== undefined && single.host !== ''
  const lines = withoutEdge(withoutRepeats(rest.slice(2), lower), lower)
  return {
    body,
    expectsContinue: expectsContinue(single.expect, version),
    wantsUpgrade: single.upgrade !== undefined,
    isLast: version === '1.0' || CLOSE.test(lower),
    saysAddresses: ADDRESSES.test(lower),
    lines: isFramed || !isNamed ? (isNamed ? '' : NO_HOST) + lines.replace(FRAMING, '') : lines,
    isUntouched: !isFramed && isNamed && lines.length === rest.length - 2,
  }
}

/** Of repeated headers with these names kube-apiserver reads the first. The engine would join them. */
const FIRST_COUNTS = ['authorization', 'x-remote-user', 'x-remote-uid', 'impersonate-user', 'impersonate-uid'].map(
  (name) => ({ begin: `\r\n${name}:`, lines: new RegExp(`^${name}:[^\\r]*\\r\\n`, 'gim') }),
)

/** @param lower the head in lower case */
function withoutRepeats(lines: string, lower: string): string {
  let kept = lines
  for (const { begin, lines: pattern } of FIRST_COUNTS) {
    const first = lower.indexOf(begin)
    if (first < 0 || lower.indexOf(begin, first + begin.length) < 0) continue
    let isFirst = true
    kept = kept.replace(pattern, (line) => {
      const stays = isFirst
      isFirst = false
      return stays ? line : ''
    })
  }
  return kept
}

/** @param lower the head in lower case */
const withoutEdge = (lines: string, lower: string): string =>
  EDGE_BEGINS.some((begin) => lower.includes(begin)) ? lines.replace(OF_THE_EDGE, '') : lines

function parseRequestLine(line: string): Pick<RequestHead, 'method' | 'target' | 'version'> {
  const afterMethod = line.indexOf(' ')
  const beforeVersion = line.lastIndexOf(' ')
  const version = line.slice(beforeVersion + 1)
  const method = line.slice(0, afterMethod)
  const target = line.slice(afterMethod + 1, beforeVersion)
  if (afterMethod <= 0 || target === '' || /[ \t]/.test(target) || !METHOD.test(method)) {
    throw new MalformedRequest(400, 'malformed request line')
  }
  if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0') throw new MalformedRequest(505, 'unsupported protocol version')
  return { method, target, version: version === 'HTTP/1.1' ? '1.1' : '1.0' }
}

type SingleHeader = 'content-length' | 'transfer-encoding' | 'expect' | 'upgrade' | 'host'

/**
 * Headers that decide how the request is read. Each may occur once.
 * @param lower the head in lower case
 */
function singleHeaders(lower: string): { readonly [name in SingleHeader]?: string } {
  const found: { [name in SingleHeader]?: string } = {}
  SINGLE.lastIndex = 0
  for (let match = SINGLE.exec(lower); match !== null; match = SINGLE.exec(lower)) {
    const name = match[1] as SingleHeader // the pattern matches only these names
    if (found[name] !== undefined) throw new MalformedRequest(400, `too many ${name} headers`)
    found[name] = withoutBlanks(match[2]!)
  }
  return found
}

/** Trims both ends. A pattern for the blanks at the end would take quadratic time. */
function withoutBlanks(value: string): string {
  const isBlank = (at: number): boolean => value[at] === ' ' || value[at] === '\t'
  let [from, to] = [0, value.length]
  while (from < to && isBlank(from)) from++
  while (to > from && isBlank(to - 1)) to--
  return value.slice(from, to)
}

function checkHost(host: string | undefined, version: RequestHead['version']): void {
  if (host === undefined && version === '1.1') throw new MalformedRequest(400, 'missing required Host header')
  if (!HOST.test(host ?? '')) throw new MalformedRequest(400, 'malformed Host header')
}

function bodyOf(
  { 'content-length': length, 'transfer-encoding': coding }: { readonly [name in SingleHeader]?: string },
  version: RequestHead['version'],
): RequestHead['body'] {
  if (coding !== undefined) {
    if (coding !== 'chunked') throw new MalformedRequest(501, 'unsupported transfer encoding')
    if (version === '1.0') throw new MalformedRequest(400, 'a transfer encoding in HTTP/1.0')
    if (length !== undefined) throw new MalformedRequest(400, 'content length and transfer encoding')
    return 'chunked'
  }
  if (length === undefined) return 'none'
  if (!/^\d{1,15}$/.test(length)) throw new MalformedRequest(400, 'bad content length')
  return Number(length)
}

function expectsContinue(expect: string | undefined, version: RequestHead['version']): boolean {
  if (expect === undefined) return false
  if (expect !== '100-continue') throw new MalformedRequest(417, 'unknown expectation')
  return version === '1.1'
}

export interface ResponseHead {
  readonly status: number
  readonly body: 'none' | 'chunked' | 'until-close' | number
  /** The server closes the connection after this answer. */
  readonly last: boolean
}

const TUNNEL = new RegExp(`\\r\\n${TUNNEL_HEADER}: *([\\w-]+)\\r\\n`, 'i')

/** The ticket of a tunnel in the head of an answer. */
export const tunnelIn = (text: string): string | undefined => TUNNEL.exec(text)?.[1]

/**
 * Parses a head of the engine, which is trusted.
 * @param bodiless the answer belongs to a HEAD
 */
export function parseResponseHead(text: string, bodiless: boolean): ResponseHead {
  const status = Number(text.slice(9, 12))
  let last = false
  let body: ResponseHead['body'] = 'until-close'
  RESPONSE_FRAMING.lastIndex = 0
  for (let match = RESPONSE_FRAMING.exec(text); match !== null; match = RESPONSE_FRAMING.exec(text)) {
    const [, length, coding, connection] = match
    if (connection !== undefined) last ||= CLOSES.test(connection)
    else if (coding !== undefined) body = 'chunked'
    else if (body !== 'chunked') body = Number(length) === 0 ? 'none' : Number(length)
  }
  return { status, last, body: bodiless || status < 200 || status === 204 || status === 304 ? 'none' : body }
}

// pattern: of heads that the engine writes
const RESPONSE_FRAMING =
  /\r\n(?:content-length[ \t]*:[ \t]*(\d+)[ \t]*|transfer-encoding[ \t]*:([^\r]*)|connection:([^\r]*))(?=\r\n)/gi
const CLOSES = /\bclose\b/i
