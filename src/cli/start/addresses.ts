/** The names and addresses under which clients reach the server. */
import { firstAddress, parseCidr } from '../../api/ip-addresses.ts'
import { DEFAULT_SERVICE_RANGE } from '../../settings.ts'
import type { StartOptions } from './options.ts'

/** Those in the certificate that the server makes for itself. */
export function serverNames({ host, names, passedOn }: StartOptions): string[] {
  const serviceRange = passedOn?.KEDGE_SERVICE_RANGE ?? DEFAULT_SERVICE_RANGE
  const own = [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    '127.0.0.1',
    '::1',
    ...serviceRange.split(',').flatMap((range) => firstAddressOf(range) ?? []),
  ]
  return [...new Set([...own, ...(isWildcard(host) ? [] : [host]), ...names])]
}

/** Undefined for a wrong range, which the settings refuse. */
function firstAddressOf(range: string): string | undefined {
  const parsed = parseCidr(range.trim())
  return parsed && firstAddress(parsed)
}

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** As it stands in a URL. */
export function urlHost(host: string): string {
  if (isWildcard(host)) return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
