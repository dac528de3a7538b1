/**
 * Where the server behind a proxy sends its client: its own paths become paths below the proxy (apimachinery's
 * proxy.Transport).
 */

/** Scheme, authority, path, and what is behind it (RFC 3986, appendix B). */
// pattern: of one header
const PARTS = /^(?:([a-z][a-z\d+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)([?#].*)?$/is

export interface Proxy {
  /** The path of the proxy, percent-encoded, without a slash at the end. */
  readonly prefix: string
  /** HOST:PORT of the server behind it. */
  readonly server: string
  /** The host by which the client knows this server. */
  readonly own: string
}

/** @returns undefined where the location is no URL */
export function ownLocation(location: string, { prefix, server, own }: Proxy): string | undefined {
  // browsers take the one slash for the other
  const said = location.replaceAll('\\', '%5C')
  const [, scheme, host = '', path = '', rest = ''] = PARTS.exec(said) ?? []
  if (!URL.canParse(said, 'http://localhost')) return undefined
  const isElsewhere = host !== '' && host !== server && host !== own
  if (isElsewhere || !path.startsWith('/')) return said
  // without dots, which could lead out of the proxy
  const { pathname, search, hash } = new URL(`http://localhost${path.replace(/^\/+/, '/')}${rest}`)
  const isBelow = pathname === prefix || pathname.startsWith(`${prefix}/`)
  const origin = host !== '' && host === own ? `${scheme === undefined ? '' : `${scheme}:`}//${host}` : ''
  return `${origin}${isBelow ? '' : prefix}${pathname}${search}${hash}`
}
