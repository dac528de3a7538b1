/**
 * gzip of large answers for clients that ask for it (apiserver's responsewriters). Watches are never compressed: a
 * compressor holds back what clients wait for.
 */

import { joined } from '../api/bytes.ts'
import type { RequestHeaders } from '../request/request-headers.ts'
import { byteReader } from '../storage/byte-chunks.ts'
import type { ByteReader } from '../storage/byte-chunks.ts'
import { lentStream } from '../storage/lent-stream.ts'
import { recoded } from './coded-stream.ts'
import type { Body } from './serialize.ts'
import { bytesOf } from './serialize.ts'

/** Of an answer, by name. */
export type AnswerHeaders = Readonly<Record<string, string>>

/** Bodies of up to this many bytes are sent as they are. */
export const GZIP_THRESHOLD = 128 * 1024

/** Only the exact word counts: no q-values, no wildcard. */
export const acceptsGzip = (headers: RequestHeaders): boolean =>
  (headers.get('Accept-Encoding') ?? '').split(',').some((coding) => coding.trim() === 'gzip')

/** Also sets the headers of a compressed answer. */
function markGzip(headers: Headers): void {
  headers.set('Content-Encoding', 'gzip')
  headers.append('Vary', 'Accept-Encoding')
}

export function compressible(status: number, contentHeaders: AnswerHeaders, body: Body, wanted: boolean): Response {
  // a character is at most three bytes
  if (!wanted || body.length * 3 <= GZIP_THRESHOLD) return new Response(body, { status, headers: contentHeaders })
  const bytes = bytesOf(body)
  const headers = new Headers(contentHeaders)
  if (bytes.length <= GZIP_THRESHOLD) return new Response(bytes, { status, headers })
  markGzip(headers)
  return encoded(status, headers, readerOf([bytes]))
}

/** The same for a stream: its beginning is held back until it is known to be large enough. */
export async function compressibleStream(
  status: number,
  contentHeaders: AnswerHeaders,
  body: ReadableStream<Uint8Array>,
  wanted: boolean,
): Promise<Response> {
  const headers = new Headers(contentHeaders)
  if (!wanted) return new Response(body, { status, headers })
  const reader = byteReader(body)
  const held: Uint8Array[] = []
  let length = 0
  while (length <= GZIP_THRESHOLD) {
    const piece = await reader.read()
    if (piece === undefined) return new Response(joined(held, length), { status, headers })
    held.push(piece.slice()) // the bytes are valid only until the next piece
    length += piece.length
  }
  markGzip(headers)
  return encoded(status, headers, readerOf(held, reader))
}

/** `encodeBody: 'manual'` keeps the platform from compressing the body again. */
const encoded = (status: number, headers: Headers, body: ByteReader): Response =>
  new Response(lentStream(recoded(body, new CompressionStream('gzip'))), { status, headers, encodeBody: 'manual' })

/** The chunks that were read already, and then the rest of the stream. */
const readerOf = (held: Uint8Array[], more?: ByteReader): ByteReader => ({
  read: async () => held.shift() ?? (await more?.read()),
  cancel: async () => more?.cancel(),
})
