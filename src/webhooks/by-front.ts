/**
 * Outgoing calls of a local server. The front makes them, because the engine cannot trust a given authority only. The
 * body is one line of JSON with the call, and behind it the body of the call (cli/outgoing/calls.ts reads it).
 */
import type { CallFailure } from './failure-text.ts'
import type { StatusError } from '../api/status.ts'
import { tooManyRequests } from '../api/status.ts'
import { NOT_MADE, NO_ROOM, callFailure, failureText } from './failure-text.ts'
import type { Outgoing, OutgoingAnswer, OutgoingCall } from './outgoing-call.ts'
import { CANCELED, CallFailed, MAX_ANSWER } from './outgoing-call.ts'

/** Headers of the front's answer. */
export const STATUS_HEADER = 'outgoing-status'
export const TYPE_HEADER = 'outgoing-type'
export const RETRY_HEADER = 'outgoing-retry-after'
/**
 * A short text answer in one header, without a body: status, type, Retry-After and text, with tabs between them, then
 * LINE_FEED or NOTHING_MORE. For a body the engine wakes several times, and it copies each header: together as dear
 * as the rest of the call.
 */
export const ANSWER_HEADER = 'outgoing-answer'
export const LINE_FEED = 'n'
export const NOTHING_MORE = '.'
/** The most octets of an answer in the header. */
export const MOST_IN_HEADER = 4 << 10
/** The front's status where the call failed; the body is a CallFailure. */
export const FAILED = 502

interface Fetches {
  fetch(url: string, init: RequestInit): Promise<Response>
}

export const byFront =
  (front: Fetches): Outgoing =>
  async (call, body, gone, take) => {
    let answer: Response
    try {
      answer = await front.fetch('http://outgoing/', {
        method: 'POST',
        body: `${lineOf(call)}\n${body}`,
        // no timeout here: the front ends the call in time
        ...(gone === undefined ? {} : { signal: gone }),
      })
    } catch (error) {
      if (gone?.aborted === true) throw new CallFailed(CANCELED)
      throw notMade(`the process in front of this server did not make the call: ${String(error)}`)
    }
    const inHeader = answer.headers.get(ANSWER_HEADER)
    if (inHeader !== null) return answerIn(inHeader)
    if (answer.status === FAILED) throw thrownFor(failureOf(await answer.text()))
    const status = Number(answer.headers.get(STATUS_HEADER))
    if (!answer.ok || !(status > 0)) {
      await answer.body?.cancel()
      throw notMade(`the process in front of this server answered ${answer.status}`)
    }
    try {
      await take?.(Number(answer.headers.get('content-length') ?? MAX_ANSWER))
    } catch (error) {
      await answer.body?.cancel()
      throw error
    }
    return {
      status,
      contentType: answer.headers.get(TYPE_HEADER) ?? '',
      retryAfter: answer.headers.get(RETRY_HEADER) ?? '',
      body: await bodyOf(answer, gone),
    }
  }

/** The front reads no more than MAX_ANSWER. It breaks off where the answers that wait for room are too many. */
async function bodyOf(answer: Response, gone: AbortSignal | undefined): Promise<Uint8Array> {
  try {
    return new Uint8Array(await answer.arrayBuffer())
  } catch {
    throw gone?.aborted === true ? new CallFailed(CANCELED) : notMade(failureText({ code: NO_ROOM, message: '' }))
  }
}

/** The last call and its line. Most calls go to the same server as the one before, with the same certificates. */
let last: { readonly call: OutgoingCall; readonly line: string } | undefined

function lineOf(call: OutgoingCall): string {
  if (last === undefined || !isSame(last.call, call)) last = { call, line: JSON.stringify(call) }
  return last.line
}

const MEMBERS = Object.keys({
  method: true,
  url: true,
  isPlain: true,
  serverName: true,
  caBundle: true,
  clientCertificate: true,
  headers: true,
  timeoutMs: true,
} satisfies Record<keyof OutgoingCall, true>) as (keyof OutgoingCall)[] // the object has exactly these keys

/** Whether all members are identical; objects are compared by reference. */
const isSame = (one: OutgoingCall, other: OutgoingCall): boolean => MEMBERS.every((name) => one[name] === other[name])

function answerIn(header: string): OutgoingAnswer {
  const [status, contentType = '', retryAfter = '', text = ''] = header.slice(0, -1).split('\t')
  const whole = header.endsWith(LINE_FEED) ? `${text}\n` : text
  return {
    status: Number(status),
    contentType,
    retryAfter,
    text: whole,
    get body() {
      return encoder.encode(whole)
    },
  }
}

const encoder = new TextEncoder()

const failureOf = (json: string): CallFailure => callFailure.parse(JSON.parse(json))

function thrownFor(failure: CallFailure): CallFailed | StatusError {
  const text = failureText(failure)
  return NOT_MADE.has(failure.code) ? notMade(text) : new CallFailed(text)
}

/** Too much is called at once: no failurePolicy applies, and the request is refused. */
const notMade = (why: string): StatusError => tooManyRequests(`${why}, please try again later`, 1)
