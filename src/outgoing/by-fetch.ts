/**
 * The way out on the platform: its own fetch, which trusts public authorities and shows no certificate, or a bound Worker
 * (`https://NAME.worker/…`). Of other protocols it knows WebSocket.
 */
import type { Settings } from '../settings.ts'
import { allowedFetch, endOf, failureOfFetch } from '../webhooks/by-fetch.ts'
import type { Fetches } from '../webhooks/by-fetch.ts'
import { CallFailed } from '../webhooks/outgoing-call.ts'
import type { Exchange } from './exchange.ts'

export const exchangeByFetch =
  (network: Fetches, bindings: object, settings: Pick<Settings, 'unpinnedHosts'>): Exchange =>
  async (call, body, gone) => {
    const { method, url, timeoutMs, upgrades } = call
    checkPath(url)
    if (call.isInsecure === true) throw new CallFailed('this server cannot call without verifying certificates')
    const way = allowedFetch(network, bindings, settings, call)
    const headers = headersOf(call.headers)
    if (upgrades === true && headers.get('Upgrade')?.toLowerCase() !== 'websocket')
      throw new CallFailed(`this server passes on no protocol but WebSocket: ${headers.get('Upgrade')}`)
    const end = endOf(timeoutMs, gone)
    try {
      const answer = await way.fetch(url, {
        method,
        headers,
        body,
        redirect: 'manual',
        signal: end,
      })
      if (upgrades === true && answer.webSocket !== null)
        return { upgraded: new Response(null, { status: 101, headers: answer.headers, webSocket: answer.webSocket }) }
      const isBounded = timeoutMs !== undefined && end !== null && answer.body !== null
      return {
        status: answer.status,
        headers: [...answer.headers],
        body: isBounded ? until(end, answer.body!) : answer.body,
      }
    } catch (error) {
      throw failureOfFetch(error, gone)
    }
  }

/** The platform passes a body on by itself, beyond the signal that its request was made with. */
function until(end: AbortSignal, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let isOver = false
  return new ReadableStream<Uint8Array>({
    start(controller) {
      end.addEventListener('abort', () => {
        if (isOver) return
        isOver = true
        controller.error(end.reason)
        reader.cancel(end.reason).catch(() => {})
      })
    },
    async pull(controller) {
      const { done, value } = await reader.read()
      if (isOver) return
      if (!done) return controller.enqueue(value)
      isOver = true
      controller.close()
    },
    cancel(reason) {
      isOver = true
      return reader.cancel(reason)
    },
  })
}

/** fetch would tidy it up, and ask for something else than was authorized. */
function checkPath(url: string): void {
  const path = url.slice(url.indexOf('/', 'https://'.length)).split('?')[0] ?? ''
  if (path.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part)))
    throw new CallFailed('this server passes on no path with dots for names')
}

/**
 * The platform joins several headers of one name with a comma and a blank, so values may not contain these. It trims
 * blanks at both ends, and refuses text that is not Latin-1.
 */
function headersOf(pairs: readonly (readonly [name: string, value: string])[]): Headers {
  const headers = new Headers()
  for (const [name, value] of pairs) {
    if (/^x-remote-/i.test(name) && (value.includes(', ') || !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)))
      throw new CallFailed(
        `this server cannot pass on ${name} with a comma and a blank in it, or what is no visible ASCII at its ends or within`,
      )
    headers.append(name, value)
  }
  return headers
}
