/** Addresses that a user may have this server connect with: kube-apiserver's are Go's global unicast addresses. */
import { lazy } from '../base/lazy.ts'
import { contains, parseCidr, parseIp } from '../api/ip-addresses.ts'

const notGlobal = lazy(() =>
  [
    '0.0.0.0/32',
    '255.255.255.255/32',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '224.0.0.0/4',
    '::/128',
    '::1/128',
    'fe80::/10',
    'ff00::/8',
  ].map((text) => parseCidr(text)!),
)

/** An address of other hosts, spelled so that every reader takes it for the same one. */
export function isProxyableAddress(text: string): boolean {
  const address = parseIp(text)
  return address?.spelling === 'plain' && !notGlobal().some((range) => contains(range, address))
}
