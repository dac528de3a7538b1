/** kube-apiserver's `cidr` library. */
import { parsing } from '../../cel/evaluation/work.ts'
import { goQuote } from '../../go/quote.ts'
import type { CallEstimate, Library, Overload } from '../../cel/declarations.ts'
import { exactly, plus, reading } from '../../cel/estimate.ts'
import { noSuchOverload } from '../../cel/values/numbers.ts'
import { fixed, readingOf } from '../../cel/library/costs.ts'
import { fn, member, overload, unary } from '../../cel/library/declare.ts'
import { sizeOf, traversal } from '../../cel/values/runtime-size.ts'
import { BOOL, INT, opaque, STRING } from '../../cel/checker/type.ts'
import type { Value } from '../../cel/values/value.ts'
import { CelError, OpaqueValue } from '../../cel/values/value.ts'
import { contains, containsRange, ipText, networkOf } from '../../api/ip-addresses.ts'
import { IP, ipOf, IpValue, sameAddress } from './ip.ts'
import type { Prefix } from '../../go/net-address.ts'
import { isProblem, parsePrefix } from '../../go/net-address.ts'

const CIDR = opaque('net.CIDR')

class CidrValue extends OpaqueValue {
  readonly type = CIDR
  constructor(readonly prefix: Prefix) {
    super()
  }

  override get size(): number {
    return Math.ceil(this.prefix.length / 8)
  }

  get range() {
    return { ...this.prefix, paddedLength: false }
  }

  equals(other: OpaqueValue): boolean {
    if (!(other instanceof CidrValue)) return false
    return this.prefix.length === other.prefix.length && sameAddress(this.prefix.address, other.prefix.address)
  }

  override toString(): string {
    return `${ipText(this.prefix.address)}/${this.prefix.length}`
  }
}

const CONVERSION = 'network address parse error during conversion from string: '

function cidrOf(text: string): CidrValue | CelError {
  const prefix = parsePrefix(parsing(text))
  if (isProblem(prefix)) return new CelError(`${CONVERSION}${CONVERSION}${prefix.problem}`)
  if (prefix.address.spelling === 'IPv4-mapped')
    return new CelError(`${CONVERSION}IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`)
  return new CidrValue(prefix)
}

// the types of arguments are checked before an overload runs
const text = (value: Value | undefined): string => value as string
const cidrIn = (value: Value | undefined): CidrValue => value as CidrValue

const inRange = (range: CidrValue, ip: IpValue | CelError): Value =>
  ip instanceof CelError ? noSuchOverload() : contains(range.range, ip.address)
const within = (outer: CidrValue, inner: CidrValue | CelError): Value =>
  inner instanceof CelError ? inner : containsRange(outer.range, inner.range)

/** The cost of comparing the bytes of addresses, and of parsing the argument if it is a string. */
function comparing(parses: boolean, more: (size: number) => number): Pick<Overload, 'cost' | 'estimate'> {
  const bytes = { min: 4, max: 16 }
  return {
    cost: ([range, other]) => {
      const size = sizeOf(range!)
      return traversal(size * 2) + more(size) + (parses ? traversal(sizeOf(other!)) : 0)
    },
    estimate: ([, other], sizes): CallEstimate => ({
      cost: plus(
        reading({ min: bytes.min * 2, max: bytes.max * 2 }),
        { min: more(bytes.min), max: more(bytes.max) },
        parses ? reading(sizes.sizeOf(other!)) : exactly(0),
      ),
    }),
  }
}

const nothing = (): number => 0
const masking = (size: number): number => traversal(size) + 1

export const cidr: Library = {
  name: 'kubernetes.net.cidr',
  types: new Map([['net.CIDR', CIDR]]),
  functions: [
    fn(
      'cidr',
      overload('string_to_cidr', [STRING], CIDR, { ...readingOf(0), run: ([string]) => cidrOf(text(string)) }),
    ),
    {
      ...fn(
        'containsIP',
        member('cidr_contains_ip_string', [CIDR, STRING], BOOL, {
          ...comparing(true, nothing),
          run: ([range, ip]) => inRange(cidrIn(range), ipOf(text(ip))),
        }),
        member('cidr_contains_ip_ip', [CIDR, IP], BOOL, {
          ...comparing(false, nothing),
          run: ([range, ip]) => inRange(cidrIn(range), ip as IpValue),
        }),
      ),
      cost: comparing(false, nothing).cost!,
    },
    {
      ...fn(
        'containsCIDR',
        member('cidr_contains_cidr_string', [CIDR, STRING], BOOL, {
          ...comparing(true, masking),
          run: ([outer, inner]) => within(cidrIn(outer), cidrOf(text(inner))),
        }),
        member('cidr_contains_cidr', [CIDR, CIDR], BOOL, {
          ...comparing(false, masking),
          run: ([outer, inner]) => within(cidrIn(outer), cidrIn(inner)),
        }),
      ),
      cost: comparing(false, masking).cost!,
    },
    fn(
      'ip',
      member('cidr_ip', [CIDR], IP, { ...fixed(1), run: ([range]) => new IpValue(cidrIn(range).prefix.address) }),
    ),
    fn(
      'prefixLength',
      member('cidr_prefix_length', [CIDR], INT, {
        ...fixed(1),
        run: ([range]) => BigInt(cidrIn(range).prefix.length),
      }),
    ),
    fn('masked', member('cidr_masked', [CIDR], CIDR, { ...fixed(1), run: ([range]) => masked(cidrIn(range)) })),
    fn(
      'isCIDR',
      overload('is_cidr', [STRING], BOOL, {
        ...readingOf(0),
        run: ([string]) => !(cidrOf(text(string)) instanceof CelError),
      }),
    ),
    fn('string', overload('cidr_to_string', [CIDR], STRING, { run: unary((value) => String(value)) })),
  ],
}

function masked({ prefix, range }: CidrValue): CidrValue {
  return new CidrValue({ ...prefix, address: { ...prefix.address, bits: networkOf(range) } })
}
