import { Gathered } from '../base/gathered.ts'
import { LARGE } from '../base/slices.ts'
import { tooManyRequests } from '../api/status.ts'

/** A call of another server, and its result. Both ways out, by the front and by fetch, implement this interface. */
export interface OutgoingCall {
  /** Absent means POST. A GET has no body. */
  readonly method?: 'GET'
  readonly url: string
  /** Whether it is http://…, without TLS. Absent: https. */
  readonly isPlain?: boolean
  /** The name that the certificate must have; absent: the host of the URL. */
  readonly serverName?: string | undefined
  /** PEM of the authorities to trust; absent: the public ones. */
  readonly caBundle?: string | undefined
  /** PEM of the caller's certificate and key. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string } | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

export interface OutgoingAnswer {
  readonly status: number
  /** '' where the answer has none. */
  readonly contentType: string
  /** The value of Retry-After; '' where the answer has none. */
  readonly retryAfter?: string
  /** The body as text, where it is ASCII and came as text. */
  readonly text?: string
  readonly body: Uint8Array
}

/** The call got no answer. The message is that of Go's HTTP client. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed'
}

/** The most bytes of an answer that are read: as many as kube-apiserver reads of a request. */
export const MAX_ANSWER = 3 * 1024 * 1024

/**
 * Waits for room for an answer of this size, before it is read.
 * @throws StatusError 429: the server has no room, so that no failurePolicy applies
 * @throws CallFailed where the client has gone
 */
export type TakeRoom = (size: number) => Promise<'at once' | 'after others'>

export const noRoom = (): Error => tooManyRequests('Too many long answers of other servers, please try again later.', 1)

/**
 * @param gone aborted when no client waits for the answer any more
 * @param take waits for room before a long answer is read
 */
export type Outgoing = (
  call: OutgoingCall,
  body: string,
  gone?: AbortSignal,
  take?: TakeRoom,
) => Promise<OutgoingAnswer>

/** Go's message for a canceled call. */
export const CANCELED = 'context canceled'

/**
 * @throws CallFailed where the answer is too long
 * @throws StatusError 429 where it waited for room, and the time of its call was over then
 */
export async function readAnswer(stream: AsyncIterable<Uint8Array> | null, take?: TakeRoom): Promise<Uint8Array> {
  const body = new Gathered()
  let room: 'none' | 'at once' | 'after others' = 'none'
  try {
    // leaving the loop cancels the stream
    for await (const chunk of stream ?? []) {
      if (body.length + chunk.length > MAX_ANSWER) throw new CallFailed(`the answer is longer than ${MAX_ANSWER} bytes`)
      if (room === 'none' && body.length + chunk.length > LARGE) room = (await take?.(MAX_ANSWER)) ?? 'at once'
      body.add(chunk)
    }
  } catch (error) {
    throw room === 'after others' && !(error instanceof CallFailed) ? noRoom() : error
  }
  return body.whole()
}
