/** Passes the answer of another server to the client. */
import type { ExchangeAnswer, Upgraded } from '../../outgoing/exchange.ts'
import { endToEnd } from '../../outgoing/exchange.ts'
import { textResponse } from '../documents/text-response.ts'

/**
 * The platform knows the length of a body, and the ticket of a tunnel is only for this server. Which other origins may
 * read answers of this server, no other server says, because browsers take both for one.
 */
const KEPT_BACK = /^(?:content-length|kedge-tunnel|access-control-allow-(?:credentials|headers|methods|origin))$/i

const REDIRECTED = 'the backend attempted to redirect this request, which is not permitted'

/** @param passesRedirects whether the other server may redirect the client */
export function remoteAnswer(answer: ExchangeAnswer | Upgraded, isHead: boolean, passesRedirects = false): Response {
  if ('upgraded' in answer) return answer.upgraded
  const { status } = answer
  const headers = new Headers()
  for (const [name, value] of endToEnd(answer.headers)) if (!KEPT_BACK.test(name)) headers.append(name, value)
  if (!passesRedirects && status >= 300 && status <= 399 && (headers.get('Location') ?? '') !== '') {
    void answer.body?.cancel()
    return textResponse(REDIRECTED, { status: 502 })
  }
  if (status < 200 || status > 599) {
    void answer.body?.cancel()
    return failed(`malformed HTTP status code ${status}`)
  }
  const hasBody = !isHead && status !== 204 && status !== 205 && status !== 304
  return new Response(hasBody ? answer.body : null, { status, headers, encodeBody: 'manual' })
}

/** kube-apiserver's answer when it cannot reach the server. */
export const failed = (why: string): Response =>
  textResponse(`error trying to reach service: ${why}\n`, { status: 503, nosniff: true })
