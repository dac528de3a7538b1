/**
 * The way out of a local server: the process in front of the engine passes the request on (cli/outgoing/exchanges.ts).
 */
import * as z from 'zod/mini'
import { FAILED, STATUS_HEADER } from '../webhooks/by-front.ts'
import { callFailure, failureText } from '../webhooks/failure-text.ts'
import { CANCELED, CallFailed } from '../webhooks/outgoing-call.ts'
import type { Exchange, ExchangeCall } from './exchange.ts'
import { HEADERS_HEADER, TUNNEL_HEADER } from './exchange.ts'

/** As it stands in the line before the body. */
export interface PassedCall extends ExchangeCall {
  readonly hasBody: boolean
}

interface Fetches {
  fetch(url: string, init: RequestInit): Promise<Response>
}

const pairs = z.array(z.tuple([z.string(), z.string()]))

export const exchangeByFront =
  (front: Fetches): Exchange =>
  async (call, body, gone) => {
    const passed: PassedCall = { ...call, hasBody: body !== null }
    const line = `${JSON.stringify(passed)}\n`
    let answer: Response
    try {
      answer = await front.fetch('http://exchanges/', {
        method: 'POST',
        body: body === null ? line : behind(line, body),
        ...(gone === undefined ? {} : { signal: gone }),
      })
    } catch (error) {
      if (gone?.aborted === true) throw new CallFailed(CANCELED)
      throw new CallFailed(`the process in front of this server did not make the call: ${String(error)}`)
    }
    if (answer.status === FAILED) throw new CallFailed(failureText(callFailure.parse(JSON.parse(await answer.text()))))
    const status = Number(answer.headers.get(STATUS_HEADER))
    const ticket = answer.headers.get(TUNNEL_HEADER)
    // the front joins the client with the other server when it sees the ticket
    if (ticket !== null) return { upgraded: new Response(null, { headers: { [TUNNEL_HEADER]: ticket } }) }
    const headers = pairs.parse(JSON.parse(answer.headers.get(HEADERS_HEADER) ?? '[]'))
    return { status, headers, body: answer.body }
  }

function behind(line: string, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const send = async (): Promise<void> => {
    const writer = writable.getWriter()
    await writer.write(new TextEncoder().encode(line))
    writer.releaseLock()
    await body.pipeTo(writable)
  }
  // either side that ends early ends the other; the call's answer says why
  send().catch(() => {})
  return readable
}
