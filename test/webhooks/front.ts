/** A fake of the front, the process before a local server, for webhook calls. */
import type { CallFailure } from '../../src/webhooks/failure-text.ts'
import { FAILED, RETRY_HEADER, STATUS_HEADER, TYPE_HEADER } from '../../src/webhooks/by-front.ts'
import type { OutgoingCall } from '../../src/webhooks/outgoing-call.ts'

export interface Called {
  readonly call: OutgoingCall
  readonly review: any
}

/** A webhook's answer: JSON, or text with a status. */
export type Answer =
  object | { readonly status: number; readonly type?: string; readonly text: string; readonly retryAfter?: string }

/** @returns the binding to such a front, and the calls that it received */
export function frontAnswering(answer: (called: Called) => Answer | Promise<Answer>): {
  readonly binding: Fetcher
  readonly calls: Called[]
} {
  const calls: Called[] = []
  const fetch = async (_url: string, init: RequestInit): Promise<Response> => {
    const [head = '', body = ''] = String(init.body).split('\n')
    const called = { call: JSON.parse(head) as OutgoingCall, review: JSON.parse(body) as unknown }
    calls.push(called)
    const given = await answer(called)
    const {
      status = 200,
      type = 'application/json',
      text = JSON.stringify(given),
      retryAfter = '',
    } = given as {
      status?: number
      type?: string
      text?: string
      retryAfter?: string
    }
    const headers = { [STATUS_HEADER]: String(status), [TYPE_HEADER]: type, [RETRY_HEADER]: retryAfter }
    return new Response(text, { headers })
  }
  return { binding: { fetch } as unknown as Fetcher, calls }
}

/** A front whose every call fails like this. */
export const frontFailing = (failure: CallFailure): Fetcher =>
  ({ fetch: async () => Response.json(failure, { status: FAILED }) }) as unknown as Fetcher

/** The AdmissionReview or ConversionReview with this response. */
export const responding =
  (response: object) =>
  ({ review }: Called): object => ({
    ...review,
    request: undefined,
    response: { uid: review.request.uid, ...response },
  })
