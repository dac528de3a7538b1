import { Gathered } from '../api/gathered.ts'

/**
 * A call of a server outside of this one, and its outcome: the interface that the two ways out (by the front, by fetch)
 * share.
 */
export interface OutgoingCall {
  /** Absent: POST. A GET has no body. */
  readonly method?: 'GET'
  readonly url: string
  /** Name that the certificate must have; absent: the host of the URL. */
  readonly serverName?: string | undefined
  /** PEM of the only authorities that count; absent: those that everybody trusts. */
  readonly caBundle?: string | undefined
  /** PEM of the caller's certificate and key. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string } | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

export interface OutgoingAnswer {
  readonly status: number
  /** '' where there is none. */
  readonly contentType: string
  /** Of Retry-After; '' where there is none. */
  readonly retryAfter?: string
  /** The body as text, where it is ASCII and came as text. */
  readonly text?: string
  readonly body: Uint8Array
}

/** There is no answer. The message says why, as Go's HTTP client would. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed'
}

/** Bytes of an answer that are read; kube-apiserver takes as much in requests. */
export const MAX_ANSWER = 3 * 1024 * 1024

/** @param gone aborted: nobody waits for the answer any more */
export type Outgoing = (call: OutgoingCall, body: string, gone?: AbortSignal) => Promise<OutgoingAnswer>

/** Go's message for a call that was given up. */
export const CANCELED = 'context canceled'

/** @throws CallFailed where it is too long */
export async function readAnswer(stream: AsyncIterable<Uint8Array> | null): Promise<Uint8Array> {
  const body = new Gathered()
  // leaving the loop ends the stream
  for await (const chunk of stream ?? []) {
    if (body.length + chunk.length > MAX_ANSWER) throw new CallFailed(`the answer is longer than ${MAX_ANSWER} bytes`)
    body.add(chunk)
  }
  return body.whole()
}
