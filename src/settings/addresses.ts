/** Settings with addresses of Services, hosts, origins of pages and token issuers. */
import { parseCidr, widthOf } from '../api/ip-addresses.ts'
import { setting } from './setting.ts'

/** kube-apiserver's minimum of host bits: eight addresses. */
const HOST_BITS = 3

export const serviceRanges = setting(
  'must be a CIDR, or one of IPv4 and one of IPv6 with a comma between, of 8 addresses at least',
  (text) => {
    const ranges = text.split(',').flatMap((part) => parseCidr(part.trim()) ?? [])
    const families = new Set(ranges.map(({ address }) => address.family))
    const isLarge = ranges.every(({ address, length }) => widthOf(address.family) - length >= HOST_BITS)
    return isLarge && ranges.length === text.split(',').length && families.size === ranges.length ? ranges : undefined
  },
)

const isIssuer = (text: string): boolean =>
  text !== '' && !/\s/.test(text) && (!text.includes(':') || URL.canParse(text))

export const issuers = setting(
  'must be a URL, or a name without colons and blanks; more of them behind commas, each once',
  (text): readonly [string, ...string[]] | undefined => {
    const [first = '', ...others] = text.split(',')
    const all = new Set([first, ...others])
    return [...all].every(isIssuer) && all.size === others.length + 1 ? [first, ...others] : undefined
  },
)

export const serviceUrls = setting(
  'must be NAMESPACE/NAME:PORT=https://HOST, with commas between, each Service once',
  (text) => {
    const services = text.split(',').map((row) => /^([a-z0-9-]+\/[a-z0-9-]+:[1-9]\d*)=(https:\/\/.+)$/.exec(row.trim()))
    const urls = new Map(services.map((row) => [row?.[1] ?? '', row?.[2] ?? '']))
    const areUrls = [...urls.values()].every((url) => URL.canParse(url) && !/[?#@]/.test(url))
    // few: the operator writes the URLs
    if (![...urls.keys()].every((service) => isPort(service.slice(service.indexOf(':') + 1)))) return undefined
    return areUrls && urls.size === services.length ? urls : undefined
  },
)

const isPort = (text: string): boolean => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535

export const hosts = setting('must be names of hosts with commas between', (text) => {
  const names = text.split(',').map((name) => name.trim())
  return names.every((name) => /^[a-z0-9.-]+$/.test(name)) ? new Set(names) : undefined
})

/**
 * Each pattern must say where the host of an origin begins and where it ends, by kube-apiserver's rule of thumb. Their
 * compiler is loaded where a request needs it.
 */
export const origins = setting(
  'must be regular expressions with commas between, each with ^ or // before the host, and $ or : after it',
  (text) => {
    const patterns = text.split(',').map((pattern) => pattern.trim())
    return patterns.every((pattern) => /\^|\/\//.test(pattern) && /[$:]/.test(pattern)) ? patterns : undefined
  },
)

export interface PortRange {
  readonly first: number
  /** It is in the range, too. */
  readonly last: number
}

/** In the forms of kube-apiserver. */
export const portRange = setting(
  'must be a range of ports: 30000-32767, 30000+2767 (so many after the first) or one port',
  (text): PortRange | undefined => {
    const [, begin = '', sign, more = '0'] = /^(\d{1,5})(?:([-+])(\d{1,5}))?$/.exec(text.trim()) ?? []
    const first = Number(begin)
    const last = sign === '-' ? Number(more) : first + Number(more)
    return begin !== '' && first >= 1 && first <= last && last <= 65_535 ? { first, last } : undefined
  },
)

export const advertised = setting('must be HOST or HOST:PORT', (text) => {
  const [, port] = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(text) ?? [undefined, '']
  // 0: any free port
  return port === undefined || port === '0' || isPort(port) ? text : undefined
})
