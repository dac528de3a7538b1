import { Gathered } from '../api/gathered.ts'

/** A call of another server, and its result. Both ways out, by the front and by fetch, implement this interface. */
export interface OutgoingCall {
  /** Absent means POST. A GET has no body. */
  readonly method?: 'GET'
  readonly url: string
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

/** @param gone aborted when no client waits for the answer any more */
export type Outgoing = (call: OutgoingCall, body: string, gone?: AbortSignal) => Promise<OutgoingAnswer>

/** Go's message for a canceled call. */
export const CANCELED = 'context canceled'

/** @throws CallFailed where the answer is too long */
export async function readAnswer(stream: AsyncIterable<Uint8Array> | null): Promise<Uint8Array> {
  const body = new Gathered()
  // leaving the loop cancels the stream
  for await (const chunk of stream ?? []) {
    if (body.length + chunk.length > MAX_ANSWER) throw new CallFailed(`the answer is longer than ${MAX_ANSWER} bytes`)
    body.add(chunk)
  }
  return body.whole()
}
