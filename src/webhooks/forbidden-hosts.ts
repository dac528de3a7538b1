/**
 * Hosts that a server on the platform never calls: loopback and link-local addresses, and metadata servers, which
 * give out secrets to machines nearby. A URL has already normalized its host: `0x7f.1` is 127.0.0.1.
 */
import { lazy } from '../base/lazy.ts'
import { withoutTrailing } from '../base/trim.ts'
import type { IpRange } from '../api/ip-addresses.ts'
import { contains, parseCidr, parseIp } from '../api/ip-addresses.ts'

/** CIDRs by the name of their kind. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  'loopback address': ['127.0.0.0/8', '::1/128'],
  'address of this host': ['0.0.0.0/8', '::/128'],
  'link-local address': ['169.254.0.0/16', 'fe80::/10', 'fec0::/10'],
  'metadata server': ['100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32', 'fd00:ec2::254/128'],
  // these IPv6 ranges contain IPv4 addresses, which may be any of the others (RFC 4291 §2.5.5, 6052, 8215, 3056,
  // 4380, 2765)
  'translated address': ['::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', '2001::/32'],
}

const ranges = lazy(() =>
  Object.entries(forbidden).flatMap(([what, cidrs]) =>
    cidrs.map((cidr): readonly [string, IpRange] => [what, parseCidr(cidr)!]),
  ),
)

/**
 * @param hostname of a URL
 * @returns the kind of a forbidden host; undefined where the host may be called
 */
export function forbiddenHost(hostname: string): string | undefined {
  const host = withoutTrailing(hostname, '.').replace(/^\[(.*)\]$/, '$1')
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback address'
  if (host.endsWith('.internal')) return 'metadata server'
  const address = parseIp(host)
  if (address === undefined) return undefined
  return ranges().find(([, range]) => range.address.family === address.family && contains(range, address))?.[0]
}
