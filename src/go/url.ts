/** Parses URLs as Go's net/url does. A URL is a string with one character for each byte of its UTF-8. */
import { addTo } from '../base/lookup.ts'
import { isAscii } from '../base/utf8.ts'
import { goQuote } from './quote.ts'
import { isProblem, parseAddress } from './net-address.ts'

export interface GoUrl {
  readonly scheme: string
  readonly opaque: string
  readonly user: string | undefined
  readonly host: string
  readonly path: string
  /** The path as written, if escaping `path` would give another text. */
  readonly rawPath: string
  readonly query: string | undefined
  readonly fragment: string
}

class UrlError extends Error {}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const toBytes = (text: string): string =>
  isAscii(text) ? text : Array.from(encoder.encode(text), (byte) => String.fromCharCode(byte)).join('')
const toText = (bytes: string): string =>
  isAscii(bytes) ? bytes : decoder.decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)))

/** Go's error if the text is no URL of a request. */
export function requestUriProblem(text: string): string | undefined {
  const read = readUrl(text, true)
  return 'problem' in read ? read.problem : undefined
}

/** Parses the text as the URL of a request, which validates it, and then once more with its fragment. */
export function parseUrl(text: string): GoUrl | { readonly problem: string } {
  const asRequest = readUrl(text, true)
  return 'problem' in asRequest ? asRequest : readUrl(text, false)
}

/** Parses the text as a URL or a relative reference. */
export const parseReference = (text: string): GoUrl | { readonly problem: string } => readUrl(text, false)

function readUrl(text: string, ofRequest: boolean): GoUrl | { readonly problem: string } {
  const bytes = toBytes(text)
  const hash = ofRequest ? -1 : bytes.indexOf('#')
  let shown = hash < 0 ? bytes : bytes.slice(0, hash)
  try {
    const url = parse(shown, ofRequest)
    shown = bytes
    return { ...url, fragment: hash < 0 ? '' : unescape(bytes.slice(hash + 1), 'fragment') }
  } catch (error) {
    if (error instanceof UrlError) return { problem: `parse ${goQuote(toText(shown))}: ${toText(error.message)}` }
    throw error
  }
}

function parse(bytes: string, ofRequest: boolean): GoUrl {
  const empty = { scheme: '', opaque: '', user: undefined, host: '', path: '', rawPath: '', fragment: '' }
  // eslint-disable-next-line no-control-regex -- the pattern finds control characters
  if (/[\x00-\x1f\x7f]/.test(bytes)) throw new UrlError('net/url: invalid control character in URL')
  if (bytes === '' && ofRequest) throw new UrlError('empty url')
  if (bytes === '*') return { ...empty, path: '*', query: undefined }
  const [written, afterScheme] = schemeOf(bytes)
  const scheme = written.toLowerCase()
  const mark = afterScheme.indexOf('?')
  const query = mark < 0 ? undefined : afterScheme.slice(mark + 1)
  let rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark)
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...empty, scheme, opaque: rest, query }
    if (ofRequest) throw new UrlError('invalid URI for request')
    if (rest.split('/')[0]!.includes(':')) throw new UrlError('first path segment in URL cannot contain colon')
  }
  let authority = { user: undefined as string | undefined, host: '' }
  if ((scheme !== '' || (!ofRequest && !rest.startsWith('///'))) && rest.startsWith('//')) {
    const slash = rest.indexOf('/', 2)
    authority = authorityOf(scheme, slash < 0 ? rest.slice(2) : rest.slice(2, slash))
    rest = slash < 0 ? '' : rest.slice(slash)
  }
  const path = unescape(rest, 'path')
  return { ...empty, ...authority, scheme, query, path, rawPath: escapePath(path) === rest ? '' : rest }
}

function schemeOf(bytes: string): [scheme: string, rest: string] {
  const colon = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(bytes)?.[0]
  if (colon !== undefined) return [colon.slice(0, -1), bytes.slice(colon.length)]
  if (bytes.startsWith(':')) throw new UrlError('missing protocol scheme')
  return ['', bytes]
}

function authorityOf(scheme: string, authority: string): { user: string | undefined; host: string } {
  const at = authority.lastIndexOf('@')
  const host = hostOf(scheme, authority.slice(at + 1))
  if (at < 0) return { user: undefined, host }
  const user = authority.slice(0, at)
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new UrlError('net/url: invalid userinfo')
  for (const part of user.split(':')) unescape(part, 'user')
  return { user, host }
}

const isPort = (text: string): boolean => /^(?::\d*)?$/.test(text)
const checkPort = (text: string): void => {
  if (!isPort(text)) throw new UrlError(`invalid port ${goQuote(text)} after host`)
}

function hostOf(scheme: string, host: string): string {
  const bracket = host.lastIndexOf('[')
  if (bracket > 0) throw new UrlError('invalid IP-literal')
  if (bracket === 0) return literalHost(host)
  const colon = host.indexOf(':')
  if (colon >= 0) {
    const strict = scheme === 'http' || scheme === 'https'
    checkPort(host.slice(strict ? colon : host.lastIndexOf(':')))
  }
  return unescape(host, 'host')
}

function literalHost(host: string): string {
  const close = host.lastIndexOf(']')
  if (close < 0) throw new UrlError("missing ']' in host")
  checkPort(host.slice(close + 1))
  const name = host.slice(1, close)
  const zone = name.indexOf('%25')
  const plain =
    zone < 0 ? unescape(name, 'host') : `${unescape(name.slice(0, zone), 'host')}${unescape(name.slice(zone), 'zone')}`
  const address = parseAddress(plain)
  if (isProblem(address)) throw new UrlError(`invalid host: ${address.problem}`)
  if (!plain.includes(':')) throw new UrlError('invalid IP-literal')
  return `[${plain}]${host.slice(close + 1)}`
}

type Part = 'path' | 'host' | 'zone' | 'user' | 'query' | 'fragment'

const HOST_CHARACTER = /[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]/
/** Escapes, and of the other characters those that are not what they stand for. */
const IN_HOST = /%(?:([0-9a-f]{2})|.{0,2})|[^%A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\x80-\xff]/gis
const IN_QUERY = /%(?:([0-9a-f]{2})|.{0,2})|\+/gis
const ELSEWHERE = /%(?:([0-9a-f]{2})|.{0,2})/gis

function unescape(bytes: string, part: Part): string {
  const isHost = part === 'host' || part === 'zone'
  const escapes = isHost ? IN_HOST : part === 'query' ? IN_QUERY : ELSEWHERE
  return bytes.replace(escapes, (found: string, hex: string | undefined) => {
    if (found === '+') return ' '
    if (!found.startsWith('%')) throw new UrlError(`invalid character ${goQuote(found)} in host name`)
    const character = String.fromCharCode(parseInt(found.slice(1), 16))
    const known = hex !== undefined
    const allowed =
      part === 'host'
        ? found === '%25' || character >= '\x80'
        : part !== 'zone' || found === '%25' || character === ' ' || HOST_CHARACTER.test(character)
    if (!known || !allowed) throw new UrlError(`invalid URL escape ${goQuote(found)}`)
    return character
  })
}

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
const escapePath = (path: string): string => path.replace(/[^A-Za-z0-9\-_.~$&+,/:;=@]/gs, percent)

export function escapedPath({ path, rawPath }: GoUrl): string {
  const isValid = /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@/[\]]|%[0-9A-Fa-f]{2})*$/.test(rawPath)
  if (rawPath !== '' && isValid) return rawPath
  return path === '*' ? '*' : escapePath(path)
}

export const hostText = ({ host }: GoUrl): string => toText(host)

/** The host without brackets and port. */
export function hostName({ host }: GoUrl): string {
  const port = /:\d*$/.exec(host)?.index
  const name = port === undefined ? host : host.slice(0, port)
  return toText(name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name)
}

export const portOf = ({ host }: GoUrl): string => /:(\d*)$/.exec(host)?.[1] ?? ''

/**
 * The values of the query by name, both unescaped. A pair that cannot be unescaped is left out.
 * @param each is called for each pair
 */
export function queryValues({ query = '' }: GoUrl, each: () => void = () => {}): ReadonlyMap<string, string[]> {
  const values = new Map<string, string[]>()
  for (const pair of query.split('&')) {
    each()
    if (pair === '' || pair.includes(';')) continue
    const equals = pair.indexOf('=')
    try {
      const name = toText(unescape(equals < 0 ? pair : pair.slice(0, equals), 'query'))
      const value = equals < 0 ? '' : toText(unescape(pair.slice(equals + 1), 'query'))
      addTo(values, name, value)
    } catch (error) {
      if (!(error instanceof UrlError)) throw error
    }
  }
  return values
}

/** A text that is the same for two URLs exactly if they are equal. */
export const urlText = (url: GoUrl): string =>
  [url.scheme, url.opaque, url.user ?? '', url.host, escapedPath(url), url.query ?? '', url.fragment].join('\n')
