/**
 * Compresses large answers with gzip for clients that accept it (apiserver's responsewriters). It never compresses
 * watches, because a compressor delays events.
 */

import { joined } from '../../base/bytes.ts'
import type { RequestHeaders } from '../../request/request-headers.ts'
import { byteReader } from '../../storage/streams/byte-chunks.ts'
import type { ByteReader } from '../../storage/streams/byte-chunks.ts'
import { lentStream } from '../../storage/streams/lent-stream.ts'
import { recoded } from './coded-stream.ts'
import type { Body } from '../encode/serialize.ts'
import { bytesOf } from '../encode/serialize.ts'

/** Headers of an answer by name. */
export type AnswerHeaders = Readonly<Record<string, string>>

/** The server compresses bodies with more bytes than this. */
export const GZIP_THRESHOLD = 128 * 1024

/** Like kube-apiserver, accepts only the exact word `gzip`, without q-values and wildcards. */
export const acceptsGzip = (headers: RequestHeaders): boolean =>
  (headers.get('Accept-Encoding') ?? '').split(',').some((coding) => coding.trim() === 'gzip')

function markGzip(headers: Headers): void {
  headers.set('Content-Encoding', 'gzip')
  headers.append('Vary', 'Accept-Encoding')
}

export function compressible(status: number, contentHeaders: AnswerHeaders, body: Body, wanted: boolean): Response {
  // a UTF-16 unit takes at most three bytes of UTF-8
  if (!wanted || body.length * 3 <= GZIP_THRESHOLD) return new Response(body, { status, headers: contentHeaders })
  const bytes = bytesOf(body)
  const headers = new Headers(contentHeaders)
  if (bytes.length <= GZIP_THRESHOLD) return new Response(bytes, { status, headers })
  markGzip(headers)
  return encoded(status, headers, readerOf([bytes]))
}

/** Compresses a stream. It reads the beginning until the stream has ended or is large enough. */
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

/** Reads the held chunks, then the rest of the stream. */
const readerOf = (held: Uint8Array[], more?: ByteReader): ByteReader => ({
  read: async () => held.shift() ?? (await more?.read()),
  cancel: async () => more?.cancel(),
})
