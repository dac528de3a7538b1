/**
 * Finds the token of a request: in the Authorization header (RFC 6750), or in the WebSocket sub-protocol for
 * browsers, which cannot set headers.
 */
import type { RequestHeaders } from '../request/request-headers.ts'
import { wantsWebSocket } from '../request/upgrade.ts'

/** The text of the Warning where the token is ignored. */
const EXTRA_SPACE = 'the provided Authorization header contains extra space before the bearer token, and is ignored'

const SOCKET_PROTOCOL = 'base64url.bearer.authorization.k8s.io.'

/**
 * Undefined where there is no token, which is no error. Schemes other than Bearer are ignored.
 * @param authorization the header, if there is one
 */
export function bearerToken(authorization: string | null, warnings: string[]): string | undefined {
  const parts = (authorization ?? '').trim().split(' ')
  if (parts.length < 2 || parts[0]!.toLowerCase() !== 'bearer') return undefined
  if (parts[1] === '') {
    warnings.push(EXTRA_SPACE)
    return undefined
  }
  return parts[1]
}

/** The sub-protocols of a WebSocket handshake, one of which is a token. */
export interface SocketOffer {
  readonly token: string
  /** At least one, because browsers expect one of their offers in the answer. */
  readonly others: readonly string[]
}

/**
 * Undefined where it is no handshake, or offers no token.
 * @throws Error where the token is not base64url of UTF-8, comes twice, or is the only sub-protocol
 */
export function socketOffer(headers: RequestHeaders): SocketOffer | undefined {
  if (!wantsWebSocket(headers)) return undefined
  const offered = (headers.get('Sec-WebSocket-Protocol') ?? '').split(',').map((protocol) => protocol.trim())
  const tokens = offered.filter((protocol) => protocol.startsWith(SOCKET_PROTOCOL))
  const [token] = tokens
  if (token === undefined) return undefined
  if (tokens.length > 1) throw new Error('multiple base64.bearer.authorization tokens specified')
  const others = offered.filter((protocol) => protocol !== token)
  const bytes = base64Url(token.slice(SOCKET_PROTOCOL.length))
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  if (text === '') return undefined
  if (others.length === 0) throw new Error('missing additional subprotocol')
  return { token: text, others }
}

/** Without padding (RFC 4648 §5). */
function base64Url(text: string): Uint8Array {
  if (!/^[\w-]*$/.test(text)) throw new Error('invalid base64.bearer.authorization token encoding')
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(bytes, (character) => character.charCodeAt(0))
}
