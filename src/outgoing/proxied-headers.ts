/** Headers of a request that is passed on: the client's, without those for this server alone. */
import { addressSeen } from '../request/address-seen.ts'
import { REQUEST_HEADERS } from '../request/request-header-names.ts'
import type { UserInfo } from '../request/user-info.ts'
import { endToEnd } from './exchange.ts'

export type HeaderPairs = (readonly [name: string, value: string])[]

/**
 * Credentials, and headers that name a user or say what this server was asked: the other server must never take these
 * for this server's own.
 */
const FOR_THIS_SERVER =
  /^(?:authorization|impersonate-.*|x-remote-(?:user|uid|group|extra-.*)|x-forwarded-(?:host|proto|uri)|kedge-.*|cf-.*)$/

/** Some servers take the one sign for the other. */
const spelled = (name: string): string => name.toLowerCase().replaceAll('_', '-')

const FORWARDED_FOR = 'x-forwarded-for'

const BEARER_PROTOCOL = /^base64url\.bearer\.authorization\.k8s\.io\./

/** @param upgrades the client wants another protocol, which is passed on */
export function proxiedHeaders(request: Request, upgrades: boolean): HeaderPairs {
  const { headers } = request
  const pairs: HeaderPairs = []
  for (const [name, value] of endToEnd(headers)) {
    if (name === 'host' || spelled(name) === FORWARDED_FOR || FOR_THIS_SERVER.test(spelled(name))) continue
    const kept = name === 'sec-websocket-protocol' ? withoutToken(value) : value
    if (kept !== '') pairs.push([name, kept])
  }
  // addresses that proxies appended before stay; they do not name a user
  const from = [headers.get(FORWARDED_FOR) ?? '', addressSeen(request, headers) ?? ''].filter((text) => text !== '')
  if (from.length > 0) pairs.push(['X-Forwarded-For', from.join(', ')])
  if (upgrades) pairs.push(['Connection', 'Upgrade'], ['Upgrade', headers.get('Upgrade') ?? ''])
  return pairs
}

/** Of the protocols of a WebSocket, one may be a bearer token for this server. */
const withoutToken = (protocols: string): string =>
  protocols
    .split(',')
    .map((one) => one.trim())
    .filter((one) => !BEARER_PROTOCOL.test(one))
    .join(', ')

/** For whom the front proxy asks. */
export function userHeaders({ name, uid, groups, extra }: UserInfo): HeaderPairs {
  const { username, group, extraPrefix } = REQUEST_HEADERS
  return [
    [username, name],
    ...(uid === '' ? [] : [[REQUEST_HEADERS.uid, uid] as const]),
    ...groups.map((one) => [group, one] as const),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => [`${extraPrefix}${escapedKey(key)}`, value] as const),
    ),
  ]
}

/** Octets that a header's name cannot have, and %, are percent-encoded. */
const escapedKey = (key: string): string =>
  [...new TextEncoder().encode(key)]
    .map((octet) => {
      const char = String.fromCharCode(octet)
      return /[!#$&'*+.^_`|~0-9A-Za-z-]/.test(char) ? char : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
