/** Passes the answer of another server to the client. */
import type { ExchangeAnswer, Upgraded } from '../../outgoing/exchange.ts'
import { endToEnd } from '../../outgoing/exchange.ts'
import { textResponse } from '../text-response.ts'

const REDIRECTED = 'the backend attempted to redirect this request, which is not permitted'

/** @param passesRedirects whether the other server may redirect the client */
export function remoteAnswer(answer: ExchangeAnswer | Upgraded, isHead: boolean, passesRedirects = false): Response {
  if ('upgraded' in answer) return answer.upgraded
  const { status } = answer
  const headers = new Headers()
  for (const [name, value] of endToEnd(answer.headers))
    // the platform knows the length of a body; the ticket of a tunnel is only for this server
    if (!/^(?:content-length|kedge-tunnel)$/i.test(name)) headers.append(name, value)
  if (!passesRedirects && status >= 300 && status <= 399 && headers.has('Location')) {
    void answer.body?.cancel()
    return new Response(REDIRECTED, { status: 502 })
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
