// The head of an HTTP/2 request as the text of an HTTP/1.1 request (RFC 9113, section 8.3), so that the same strict
// reader checks both (http-framing.ts), and no second set of rules says what a request may have.
import { MalformedRequest } from '../http-framing.ts'

/** How a stream's body gets into HTTP/1.1. A number is the length that the client stated. */
export type BodyFraming = 'none' | 'chunked' | number

export interface RequestText {
  readonly head: Buffer
  readonly body: BodyFraming
  /** Its method is HEAD, so that its answer has no content. */
  readonly isHead: boolean
}

/** In HTTP/2 names are in lower case. */
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const PSEUDO = new Set([':method', ':scheme', ':authority', ':path'])
/** Would end a line of HTTP/1.1, or a text for some readers. The other octets are checked as those of any client. */
const ENDS_LINE = /[\r\n\0]/
/** They describe a connection of HTTP/1.1, and HTTP/2 has none of them. */
export const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])
/** Framing that this file writes itself. */
const OWN = new Set(['host', 'content-length'])
const LENGTH = /^\d{1,15}$/

/**
 * @param fields names and values in turn, as they arrived
 * @param isWhole the head ends the stream: the request has no body
 * @throws MalformedRequest
 */
export function requestText(fields: readonly string[], isWhole: boolean): RequestText {
  const pseudo = new Map<string, string>()
  let lines = ''
  let host: string | undefined
  let length: string | undefined
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at]!
    const value = fields[at + 1]!
    if (ENDS_LINE.test(value)) throw new MalformedRequest(400, 'malformed header')
    if (PSEUDO.has(name)) {
      if (pseudo.has(name)) throw new MalformedRequest(400, `too many ${name} headers`)
      pseudo.set(name, value)
      continue
    }
    if (!NAME.test(name)) throw new MalformedRequest(400, 'malformed header')
    if (OF_CONNECTIONS.has(name)) throw new MalformedRequest(400, `HTTP/2 has no header ${name}`)
    if (name === 'host') host ??= value
    if (name === 'content-length') {
      if (length !== undefined) throw new MalformedRequest(400, 'too many content-length headers')
      length = value
    }
    if (!OWN.has(name)) lines += `${name}: ${value}\r\n`
  }
  const target = pseudo.get(':path') ?? pseudo.get(':authority')
  const method = pseudo.get(':method')
  if (method === undefined || target === undefined) throw new MalformedRequest(400, 'malformed request line')
  const body = framingOf(length, isWhole)
  const head =
    `${method} ${target} HTTP/1.1\r\nhost: ${pseudo.get(':authority') ?? host ?? ''}\r\n` + framingLine(body) + lines
  return { head: Buffer.from(`${head}\r\n`, 'latin1'), body, isHead: method === 'HEAD' }
}

function framingOf(length: string | undefined, isWhole: boolean): BodyFraming {
  if (length !== undefined && !LENGTH.test(length)) throw new MalformedRequest(400, 'bad content length')
  if (isWhole) {
    if (length !== undefined && Number(length) !== 0) throw new MalformedRequest(400, 'a length without a body')
    return length === undefined ? 'none' : 0
  }
  return length === undefined ? 'chunked' : Number(length)
}

function framingLine(body: BodyFraming): string {
  if (body === 'none') return ''
  return body === 'chunked' ? 'transfer-encoding: chunked\r\n' : `content-length: ${body}\r\n`
}
