// The head of a request as the engine gets it.
import { MalformedRequest } from './http-framing.ts'
import type { RequestHead } from './http-framing.ts'

/** The engine refuses URLs of 64 KiB, and the client chooses the part before the path. */
const MAX_TARGET = 65_000

/** A host and a port. */
const AUTHORITY = /^[\w.\-[\]:]+$/

/** The methods that workerd passes to a Worker. */
const CARRIED_METHODS = new Set(
  (
    'GET HEAD POST PUT DELETE PATCH PURGE OPTIONS TRACE COPY LOCK MKCOL MOVE PROPFIND PROPPATCH SEARCH UNLOCK ACL ' +
    'REPORT MKACTIVITY CHECKOUT MERGE MSEARCH NOTIFY SUBSCRIBE UNSUBSCRIBE'
  ).split(' '),
)

export interface EngineRequest {
  /** POST where the engine cannot carry the method; a statement then has the real one. */
  readonly method: string
  readonly target: string
}

/** @throws MalformedRequest */
export function engineRequest(head: RequestHead): EngineRequest {
  const target = engineTarget(head)
  if (target.length > MAX_TARGET)
    throw new MalformedRequest(414, `path and query may have ${MAX_TARGET} octets when they are percent-encoded`)
  return { method: CARRIED_METHODS.has(head.method) ? head.method : 'POST', target }
}

/**
 * @param octets the head as the client sent it, used where nothing changes
 * @param statement a header line, or ''
 */
export function engineHead(head: RequestHead, octets: Buffer, request: EngineRequest, statement: string): Buffer {
  const { method, target } = request
  if (head.isUntouched && statement === '' && method === head.method && target === head.target) return octets
  const line = `${method} ${target} HTTP/${head.version}\r\n`
  return Buffer.from(`${line}${statement}${framingLine(head)}${head.lines}\r\n`, 'latin1')
}

function framingLine({ body }: RequestHead): string {
  if (body === 'none') return ''
  return body === 'chunked' ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${body}\r\n`
}

/**
 * workerd accepts only the characters of URLs, and cuts at '#'. Go's server, on which clients may rely, accepts any
 * octet.
 */
function engineTarget({ method, target }: RequestHead): string {
  const path = target.startsWith('/') ? target : originForm(method, target)
  return /[^!-~]|[<>`#]/.test(path)
    ? path.replace(/[^!-~]|[<>`#]/g, (char) => '%' + char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0'))
    : path
}

/** @throws MalformedRequest for a target in none of the forms of RFC 9112, section 3.2 */
function originForm(method: string, target: string): string {
  // pattern: a target has no line breaks, so its end matches at once
  const absolute = /^https?:\/\/[^/?#]*(.*)$/i.exec(target)
  if (absolute) return absolute[1]?.startsWith('/') ? absolute[1] : '/' + (absolute[1] ?? '')
  if (target !== '*' && !(method === 'CONNECT' && AUTHORITY.test(target)))
    throw new MalformedRequest(400, 'a target that is no path')
  return '/' + target
}
