/**
 * Front proxies: a client with a certificate of the proxies' authority names the user of its request in X-Remote-*
 * headers (kube-apiserver's --requestheader-* flags with their usual values).
 */
import { addTo } from '../base/lookup.ts'
import { settingsOf } from '../settings.ts'
import type { ApiRequest } from '../request/context.ts'
import type { RequestHeaders } from '../request/request-headers.ts'
import { REQUEST_HEADERS } from '../request/request-header-names.ts'
import { clientAuthority } from './client-authority.ts'
import { presentedCertificate } from './client-certificate.ts'
import type { UserInfo } from '../request/user-info.ts'
import { authenticated } from '../request/user-info.ts'

/** Whether front proxies are configured, and the request has the headers of one. */
export const saysForWhom = ({ headers, env }: Asked): boolean =>
  settingsOf(env).requestHeaderAuthority !== undefined && (headers.get(REQUEST_HEADERS.username) ?? '').trim() !== ''

type Asked = Pick<ApiRequest, 'cf' | 'headers' | 'env' | 'now'>

/**
 * Undefined where the client is no front proxy.
 * @param asked a request with the headers of a front proxy
 */
export async function requestHeaderUser({ cf, headers, env, now }: Asked): Promise<UserInfo | undefined> {
  const name = headers.get(REQUEST_HEADERS.username) ?? ''
  const presented = presentedCertificate({ cf })
  if (presented === undefined) return undefined
  const proxy = await clientAuthority(settingsOf(env).requestHeaderAuthority)?.verify(presented, now)
  if (proxy === undefined || !isAllowed(proxy.name)) return undefined
  return authenticated({
    name,
    uid: settingsOf(env).gates.enabled('RemoteRequestHeaderUID') ? (headers.get(REQUEST_HEADERS.uid) ?? '') : '',
    groups: headerValues(headers, REQUEST_HEADERS.group).filter((group) => group !== ''),
    extra: extraOf(headers),
  })
}

const isAllowed = (commonName: string): boolean => REQUEST_HEADERS.allowedNames.some((name) => name === commonName)

/** Repeated headers arrive as one, joined with a comma and a blank. So values may not contain these. */
export const headerValues = (headers: RequestHeaders, name: string): string[] => headers.get(name)?.split(', ') ?? []

function extraOf(headers: RequestHeaders): Record<string, string[]> {
  const prefix = REQUEST_HEADERS.extraPrefix.toLowerCase()
  const extra = new Map<string, string[]>()
  for (const name of headers.names()) {
    if (!name.startsWith(prefix)) continue
    const key = extraKey(name.slice(prefix.length))
    // names that are encoded in different ways have one key
    for (const value of headerValues(headers, name)) addTo(extra, key, value)
  }
  return Object.fromEntries(extra)
}

/** Keys become lower case and are percent-decoded; a key that cannot be decoded stays as it is. */
export function extraKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
