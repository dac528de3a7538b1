/** kube-apiserver's `ip` library. It accepts no zones and no IPv4-mapped IPv6 addresses. */
import { goQuote } from '../../go/quote.ts'
import { parsing } from '../../cel/evaluation/work.ts'
import type { Library } from '../../cel/declarations.ts'
import { fixed, readingOf } from '../../cel/library/costs.ts'
import { fn, member, overload, unary } from '../../cel/library/declare.ts'
import { BOOL, INT, opaque, STRING } from '../../cel/checker/type.ts'
import type { Value } from '../../cel/values/value.ts'
import { CelError, OpaqueValue } from '../../cel/values/value.ts'
import type { IpAddress } from '../../api/ip-addresses.ts'
import { ipText, widthOf } from '../../api/ip-addresses.ts'
import { isProblem, parseAddress, zoneOf } from '../../go/net-address.ts'

export const IP = opaque('net.IP')

export class IpValue extends OpaqueValue {
  readonly type = IP
  constructor(readonly address: IpAddress) {
    super()
  }

  override get size(): number {
    return widthOf(this.address.family) / 8
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof IpValue && sameAddress(this.address, other.address)
  }

  override toString(): string {
    return ipText(this.address)
  }
}

export const sameAddress = (a: IpAddress, b: IpAddress): boolean => a.family === b.family && a.bits === b.bits

export function ipOf(text: string): IpValue | CelError {
  const address = parseAddress(parsing(text))
  if (isProblem(address))
    return new CelError(`IP Address ${goQuote(text)} parse error during conversion from string: ${address.problem}`)
  if (zoneOf(text) !== '') return new CelError(`IP address ${goQuote(text)} with zone value is not allowed`)
  if (address.spelling === 'IPv4-mapped')
    return new CelError(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`)
  return new IpValue(address)
}

// the types of arguments are checked before an overload runs
const text = (value: Value | undefined): string => value as string
const addressOf = (value: Value | undefined): IpAddress => (value as IpValue).address

/** Whether the first `length` bits of an address equal the prefix. */
const startsWith = ({ family, bits }: IpAddress, prefix: bigint, length: number): boolean =>
  bits >> BigInt(widthOf(family) - length) === prefix

const isV4 = ({ family }: IpAddress): boolean => family === 'IPv4'
const isUnspecified = ({ bits }: IpAddress): boolean => bits === 0n
const isLoopback = (ip: IpAddress): boolean => (isV4(ip) ? startsWith(ip, 127n, 8) : ip.bits === 1n)
const isMulticast = (ip: IpAddress): boolean => (isV4(ip) ? startsWith(ip, 0xen, 4) : startsWith(ip, 0xffn, 8))
const isLinkLocalMulticast = (ip: IpAddress): boolean =>
  isV4(ip) ? startsWith(ip, 0xe00000n, 24) : startsWith(ip, 0xffn, 8) && ((ip.bits >> 112n) & 0xfn) === 2n
const isLinkLocalUnicast = (ip: IpAddress): boolean =>
  isV4(ip) ? startsWith(ip, 0xa9fen, 16) : startsWith(ip, 0x3fan, 10)
const isGlobalUnicast = (ip: IpAddress): boolean =>
  !isUnspecified(ip) &&
  !(isV4(ip) && ip.bits === 0xffffffffn) &&
  !isLoopback(ip) &&
  !isMulticast(ip) &&
  !isLinkLocalUnicast(ip)

const test = (name: string, id: string, holds: (address: IpAddress) => boolean) =>
  fn(name, member(id, [IP], BOOL, { ...fixed(1), run: ([ip]) => holds(addressOf(ip)) }))

export const ip: Library = {
  name: 'kubernetes.net.ip',
  types: new Map([['net.IP', IP]]),
  functions: [
    fn('ip', overload('string_to_ip', [STRING], IP, { ...readingOf(0), run: ([string]) => ipOf(text(string)) })),
    fn('family', member('ip_family', [IP], INT, { ...fixed(1), run: ([ip]) => (isV4(addressOf(ip)) ? 4n : 6n) })),
    fn(
      'ip.isCanonical',
      overload('ip_is_canonical', [STRING], BOOL, {
        ...readingOf(0, 2),
        run: ([string]) => {
          const value = ipOf(text(string))
          return value instanceof CelError ? value : String(value) === string
        },
      }),
    ),
    test('isUnspecified', 'ip_is_unspecified', isUnspecified),
    test('isLoopback', 'ip_is_loopback', isLoopback),
    test('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
    test('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
    test('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
    fn(
      'isIP',
      overload('is_ip', [STRING], BOOL, {
        ...readingOf(0),
        run: ([string]) => !(ipOf(text(string)) instanceof CelError),
      }),
    ),
    fn('string', overload('ip_to_string', [IP], STRING, { run: unary((value) => String(value)) })),
  ],
}
