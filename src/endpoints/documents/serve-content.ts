/**
 * Serves a document as a file, with the conditions and ranges of RFC 9110 as in Go's http.ServeContent. Entity tags
 * are compared weakly for If-None-Match and strongly elsewhere. Any method is served.
 */
import type { ByteReader } from '../../storage/streams/byte-chunks.ts'
import { lentStream } from '../../storage/streams/lent-stream.ts'

export interface Content {
  /** A stream does not support ranges. */
  readonly body: Uint8Array | (() => ByteReader)
  /** With quotes. */
  readonly etag?: string
  readonly lastModified: Date
  readonly headers: Readonly<Record<string, string>>
}

/** RFC 1123 as in HTTP headers: `Sat, 21 Nov 2026 12:00:00 GMT`. */
export const httpDate = (date: Date): string => date.toUTCString()

export function serveContent(request: Request, content: Content): Response {
  const { body, etag, lastModified } = content
  const headers = new Headers(content.headers)
  if (etag !== undefined) headers.set('ETag', etag)
  headers.set('Last-Modified', httpDate(lastModified))

  const condition = preconditionOf(request, content)
  if (condition === 'failed') return new Response(null, { status: 412, headers })
  if (condition === 'not modified') {
    headers.delete('Content-Type')
    if (etag !== undefined) headers.delete('Last-Modified')
    return new Response(null, { status: 304, headers })
  }

  if (typeof body === 'function')
    return new Response(request.method === 'HEAD' ? null : lentStream(body()), { headers })
  headers.set('Accept-Ranges', 'bytes')
  const text = ifRangeHolds(request, content) ? request.headers.get('Range') : null
  const ranges = text === null ? [] : parseRanges(text, body.length)
  if (typeof ranges === 'string') return unsatisfiable(ranges, body.length, headers)
  if (ranges.length === 0 || total(ranges) > body.length) return answer(request, body, 200, headers)
  if (ranges.length === 1) {
    const [range] = ranges
    headers.set('Content-Range', contentRange(range!, body.length))
    return answer(request, body.slice(range!.start, range!.start + range!.length), 206, headers)
  }
  return multipart(request, body, ranges, headers)
}

function answer(request: Request, body: Uint8Array, status: number, headers: Headers): Response {
  headers.set('Content-Length', String(body.length))
  return new Response(request.method === 'HEAD' ? null : body, { status, headers })
}

function preconditionOf(request: Request, { etag, lastModified }: Content): 'none' | 'failed' | 'not modified' {
  const get = (name: string) => request.headers.get(name) ?? ''
  const readOnly = request.method === 'GET' || request.method === 'HEAD'
  // times in HTTP have whole seconds
  const modified = Math.floor(lastModified.getTime() / 1000) * 1000
  if (get('If-Match') !== '') {
    if (!listMatches(get('If-Match'), etag, strongly)) return 'failed'
  } else {
    const unmodifiedSince = Date.parse(get('If-Unmodified-Since'))
    if (!Number.isNaN(unmodifiedSince) && modified > unmodifiedSince) return 'failed'
  }
  if (get('If-None-Match') !== '') {
    if (!listMatches(get('If-None-Match'), etag, weakly)) return 'none'
    return readOnly ? 'not modified' : 'failed'
  }
  const modifiedSince = Date.parse(get('If-Modified-Since'))
  if (readOnly && !Number.isNaN(modifiedSince) && modified <= modifiedSince) return 'not modified'
  return 'none'
}

type Comparison = (a: string, b: string) => boolean
const weakly: Comparison = (a, b) => a.replace(/^W\//, '') === b.replace(/^W\//, '')
const strongly: Comparison = (a, b) => a === b && a.startsWith('"')

const entityTag = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/

function listMatches(header: string, etag: string | undefined, matches: Comparison): boolean {
  for (let rest = header.replace(/^[\s,]+/, ''); rest !== ''; rest = rest.replace(/^[\s,]+/, '')) {
    if (rest.startsWith('*')) return true
    const tag = entityTag.exec(rest)?.[0]
    if (tag === undefined) return false
    if (etag !== undefined && matches(tag, etag)) return true
    rest = rest.slice(tag.length)
  }
  return false
}

/** Whether the range is served, and not the whole: there is no If-Range, or it names this content. */
function ifRangeHolds(request: Request, { etag, lastModified }: Content): boolean {
  const condition = request.headers.get('If-Range') ?? ''
  const readOnly = request.method === 'GET' || request.method === 'HEAD'
  if (condition === '' || !readOnly) return true
  const tag = entityTag.exec(condition)?.[0]
  if (tag !== undefined) return etag !== undefined && strongly(tag, etag)
  const date = Date.parse(condition)
  return !Number.isNaN(date) && Math.floor(date / 1000) === Math.floor(lastModified.getTime() / 1000)
}

interface ByteRange {
  readonly start: number
  readonly length: number
}

/** The ranges that lie in the content; a text where there are none. */
function parseRanges(header: string, size: number): ByteRange[] | string {
  if (!header.startsWith('bytes=')) return 'invalid range'
  const ranges: ByteRange[] = []
  let outside = false
  for (const part of header
    .slice('bytes='.length)
    .split(',')
    .map((one) => one.trim())) {
    if (part === '') continue
    const match = /^(\d*)\s*-\s*(\d*)$/.exec(part)
    if (match === null || part === '-') return 'invalid range'
    const [, first, last] = match
    if (first === '') {
      const length = Math.min(Number(last), size)
      ranges.push({ start: size - length, length })
      continue
    }
    const start = Number(first)
    if (start >= size) {
      outside = true
      continue
    }
    if (last !== '' && Number(last) < start) return 'invalid range'
    const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
    ranges.push({ start, length: end - start + 1 })
  }
  return outside && ranges.length === 0 ? 'invalid range: failed to overlap' : ranges
}

const total = (ranges: readonly ByteRange[]): number => ranges.reduce((sum, { length }) => sum + length, 0)

const contentRange = ({ start, length }: ByteRange, size: number): string =>
  `bytes ${start}-${start + length - 1}/${size}`

function unsatisfiable(why: string, size: number, headers: Headers): Response {
  for (const name of ['ETag', 'Last-Modified', 'Cache-Control', 'Content-Encoding']) headers.delete(name)
  if (why !== 'invalid range') headers.set('Content-Range', `bytes */${size}`)
  headers.set('Content-Type', 'text/plain; charset=utf-8')
  headers.set('X-Content-Type-Options', 'nosniff')
  return new Response(`${why}\n`, { status: 416, headers })
}

function multipart(request: Request, body: Uint8Array, ranges: readonly ByteRange[], headers: Headers): Response {
  const boundary = crypto.randomUUID().replaceAll('-', '')
  const type = headers.get('Content-Type') ?? ''
  const encoder = new TextEncoder()
  const parts: Uint8Array[] = []
  for (const [at, range] of ranges.entries()) {
    const head = `${at === 0 ? '' : '\r\n'}--${boundary}\r\nContent-Range: ${contentRange(range, body.length)}\r\nContent-Type: ${type}\r\n\r\n`
    parts.push(encoder.encode(head), body.slice(range.start, range.start + range.length))
  }
  parts.push(encoder.encode(`\r\n--${boundary}--\r\n`))
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  headers.set('Content-Type', `multipart/byteranges; boundary=${boundary}`)
  return answer(request, joined, 206, headers)
}
