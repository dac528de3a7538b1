/** Settings with addresses of Services, hosts and token issuers. */
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

export const advertised = setting('must be HOST or HOST:PORT', (text) => {
  const [, port] = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(text) ?? [undefined, '']
  // 0: any free port
  return port === undefined || port === '0' || isPort(port) ? text : undefined
})
