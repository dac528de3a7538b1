/**
 * gzip of large answers for clients that ask for it (apiserver's responsewriters). Watches are never compressed: a
 * compressor holds back what clients wait for.
 */

import type { RequestHeaders } from '../request/request-headers.ts'
import type { Body } from './serialize.ts'
import { bytesOf } from './serialize.ts'

/** Of an answer, by name. */
export type AnswerHeaders = Readonly<Record<string, string>>

/** Bodies of up to this many bytes are sent as they are. */
export const GZIP_THRESHOLD = 128 * 1024

/** Only the exact word counts: no q-values, no wildcard. */
export const acceptsGzip = (headers: RequestHeaders): boolean =>
  (headers.get('Accept-Encoding') ?? '').split(',').some((coding) => coding.trim() === 'gzip')

/** Sets the headers that go with it. */
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
  return encoded(status, headers, streamOf(bytes))
}

/** The same for a body whose size shows only as it comes: its beginning is held back until that is known. */
export async function compressibleStream(
  status: number,
  contentHeaders: AnswerHeaders,
  body: ReadableStream<Uint8Array>,
  wanted: boolean,
): Promise<Response> {
  const headers = new Headers(contentHeaders)
  if (!wanted) return new Response(body, { status, headers })
  const reader = body.getReader()
  const held: Uint8Array[] = []
  let length = 0
  while (length <= GZIP_THRESHOLD) {
    const { done, value } = await reader.read()
    if (done) return new Response(joined(held, length), { status, headers })
    held.push(value)
    length += value.length
  }
  markGzip(headers)
  return encoded(status, headers, resumed(held, reader))
}

/** `encodeBody` keeps the platform from compressing what is compressed. */
function encoded(status: number, headers: Headers, body: ReadableStream<Uint8Array>): Response {
  // the two sides of CompressionStream are typed for any bytes
  const gzip = new CompressionStream('gzip') as unknown as ReadableWritablePair<Uint8Array, Uint8Array>
  return new Response(body.pipeThrough(gzip), { status, headers, encodeBody: 'manual' })
}

function streamOf(body: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(body)
      controller.close()
    },
  })
}

function resumed(held: Uint8Array[], reader: ReadableStreamDefaultReader<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const first = held.shift()
      if (first !== undefined) return controller.enqueue(first)
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

export function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
