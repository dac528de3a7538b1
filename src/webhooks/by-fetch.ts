/**
 * Outgoing calls on the platform, by its own fetch, which trusts public authorities only. `https://NAME.worker/…`
 * calls the Worker that is bound as WORKER_NAME, without a network.
 */
import { ownValue } from '../base/own.ts'
import { StatusError } from '../api/status.ts'
import type { Settings } from '../settings.ts'
import { forbiddenHost } from './forbidden-hosts.ts'
import type { Outgoing, OutgoingAnswer, OutgoingCall, TakeRoom } from './outgoing-call.ts'
import { CANCELED, CallFailed, readAnswer } from './outgoing-call.ts'

export interface Fetches {
  fetch(url: string, init: RequestInit): Promise<Response>
}

const WORKER = /^([a-z0-9-]+)\.worker$/

export const byFetch =
  (network: Fetches, bindings: object, settings: Pick<Settings, 'unpinnedHosts'>): Outgoing =>
  (call, body, gone, take) => {
    if (call.clientCertificate !== undefined)
      throw new CallFailed('this server has no client certificates for the servers that it calls')
    return send(allowedFetch(network, bindings, settings, call), call, body, gone, take)
  }

/**
 * The fetcher for the call.
 * @throws CallFailed where the call is not allowed
 */
export function allowedFetch(
  network: Fetches,
  bindings: object,
  { unpinnedHosts }: Pick<Settings, 'unpinnedHosts'>,
  { url, caBundle }: Pick<OutgoingCall, 'url' | 'caBundle'>,
): Fetches {
  const { hostname } = new URL(url)
  const worker = WORKER.exec(hostname)?.[1]
  if (worker !== undefined) return boundWorker(bindings, worker)
  const why = forbiddenHost(hostname)
  if (why !== undefined) throw new CallFailed(`this server calls no ${why}: ${hostname}`)
  if (caBundle !== undefined && !unpinnedHosts.has(hostname))
    throw new CallFailed(
      `this server can only verify certificates of public authorities, not by the caBundle; ` +
        `KEDGE_UNPINNED_HOSTS may name ${hostname} to have the bundle ignored`,
    )
  return network
}

function boundWorker(bindings: object, name: string): Fetches {
  const binding = `WORKER_${name.toUpperCase().replaceAll('-', '_')}`
  // a service binding has a method fetch; a variable of this name has none
  const bound = ownValue(bindings as Record<string, Partial<Fetches> | string | undefined>, binding)
  if (typeof bound !== 'object' || typeof bound.fetch !== 'function')
    throw new CallFailed(`no Worker is bound to this server as ${binding}`)
  return bound as Fetches
}

async function send(
  network: Fetches,
  { method: asked, url, headers, timeoutMs }: OutgoingCall,
  body: string,
  gone: AbortSignal | undefined,
  take: TakeRoom | undefined,
): Promise<OutgoingAnswer> {
  const method = asked ?? 'POST'
  try {
    const answer = await network.fetch(url, {
      method,
      headers,
      ...(method === 'GET' ? {} : { body }),
      redirect: 'manual',
      signal: endOf(timeoutMs, gone),
    })
    return {
      status: answer.status,
      contentType: answer.headers.get('Content-Type') ?? '',
      retryAfter: answer.headers.get('Retry-After') ?? '',
      body: await readAnswer(answer.body, take),
    }
  } catch (error) {
    throw error instanceof StatusError ? error : failureOfFetch(error, gone)
  }
}

/**
 * Why a call without an answer ended.
 * @param timeoutMs absent: the call ends only with its client
 */
export const endOf = (timeoutMs: number | undefined, gone: AbortSignal | undefined): AbortSignal | null => {
  const ends = [
    ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]),
    ...(gone === undefined ? [] : [gone]),
  ]
  return ends.length > 1 ? AbortSignal.any(ends) : (ends[0] ?? null)
}

export function failureOfFetch(error: unknown, gone: AbortSignal | undefined): CallFailed {
  if (error instanceof CallFailed) return error
  if (gone?.aborted === true) return new CallFailed(CANCELED)
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) }
  return new CallFailed(name === 'TimeoutError' || name === 'AbortError' ? 'context deadline exceeded' : message)
}
