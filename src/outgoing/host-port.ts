/**
 * The authority of a URL that this server calls. Objects say where to call, and a text of theirs must not end the host:
 * it would choose the port and the path, and this server asks some hosts with credentials of its own.
 */
import { parseIp } from '../api/ip-addresses.ts'
import { goQuote } from '../go/quote.ts'
import { CallFailed } from '../webhooks/outgoing-call.ts'

/** A name or an address, and nothing else that a URL could have. */
export const isHost = (text: string): boolean => /^[a-z0-9._-]{1,253}$/i.test(text) || parseIp(text) !== undefined

/** @throws CallFailed where the host is none */
export function hostPort(host: string, port: number | string): string {
  if (!isHost(host)) throw new CallFailed(`${goQuote(host)} is no host`)
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
