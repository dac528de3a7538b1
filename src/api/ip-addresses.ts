/**
 * Parses and validates IP addresses and CIDRs of API fields (apimachinery's pkg/util/validation/ip.go). Old fields
 * accept every spelling of an address, newer fields only the canonical one.
 */
import type { FieldError, FieldPath } from './field.ts'
import { goQuote } from '../go/quote.ts'
import { invalidValue } from './field.ts'
import { lazy } from '../base/lazy.ts'

export type IpFamily = 'IPv4' | 'IPv6'

export interface IpAddress {
  readonly family: IpFamily
  /** The 32 or 128 bits of the address. An IPv4-mapped IPv6 address counts as IPv4. */
  readonly bits: bigint
  readonly spelling: 'plain' | 'leading zeros' | 'IPv4-mapped'
}

export interface IpRange {
  /** The address as written, with the bits behind the prefix. */
  readonly address: IpAddress
  readonly length: number
  /** Whether the prefix length has leading zeros. */
  readonly paddedLength: boolean
}

/** Parses an address. It accepts leading zeros in IPv4 parts, and IPv4-mapped IPv6 addresses. */
export function parseIp(text: string): IpAddress | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text)
}

function parseIpv4(text: string): IpAddress | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^\d+$/.test(part) && Number(part) <= 255)) return undefined
  const bits = parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)
  return { family: 'IPv4', bits, spelling: parts.some((part) => /^0\d/.test(part)) ? 'leading zeros' : 'plain' }
}

function parseIpv6(text: string): IpAddress | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const groups = halves.map((half) => groupsOf(half, half === halves.at(-1)))
  const [head, tail = []] = groups
  if (head === undefined || groups.includes(undefined)) return undefined
  const written = [...head.values, ...(Array.isArray(tail) ? [] : tail.values)]
  if (halves.length === 1 ? written.length !== 8 : written.length > 7) return undefined
  const zeros = new Array<number>(8 - written.length).fill(0)
  const all = [...head.values, ...zeros, ...(Array.isArray(tail) ? [] : tail.values)]
  const bits = all.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n)
  if (bits >> 32n === 0xffffn) return { family: 'IPv4', bits: bits & 0xffffffffn, spelling: 'IPv4-mapped' }
  const padded = [head, tail].some((half) => !Array.isArray(half) && half.padded)
  return { family: 'IPv6', bits, spelling: padded ? 'leading zeros' : 'plain' }
}

/** The 16-bit groups of half an address. The last two groups may have the form of an IPv4 address. */
function groupsOf(half: string, last: boolean): { values: number[]; padded: boolean } | undefined {
  if (half === '') return { values: [], padded: false }
  const values: number[] = []
  let padded = false
  const parts = half.split(':')
  for (const [index, part] of parts.entries()) {
    if (last && index === parts.length - 1 && part.includes('.')) {
      const embedded = parseIpv4(part)
      if (embedded === undefined) return undefined
      values.push(Number(embedded.bits >> 16n), Number(embedded.bits & 0xffffn))
      padded = embedded.spelling === 'leading zeros'
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) values.push(parseInt(part, 16))
    else return undefined
  }
  return { values, padded }
}

export const familyOf = (text: string): IpFamily | undefined => parseIp(text)?.family

/** The canonical spelling of an address. For IPv6 it is that of RFC 5952. */
export function ipText({ family, bits }: Pick<IpAddress, 'family' | 'bits'>): string {
  if (family === 'IPv4') return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => Number((bits >> BigInt(112 - index * 16)) & 0xffffn))
  const [from, length] = longestZeros(groups)
  const hex = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':')
  return length < 2 ? hex(groups) : `${hex(groups.slice(0, from))}::${hex(groups.slice(from + length))}`
}

function longestZeros(groups: readonly number[]): [from: number, length: number] {
  let best: [number, number] = [0, 0]
  for (let from = 0; from < groups.length; from++) {
    let length = 0
    while (groups[from + length] === 0) length++
    if (length > best[1]) best = [from, length]
  }
  return best
}

export const widthOf = (family: IpFamily): number => (family === 'IPv4' ? 32 : 128)

export function parseCidr(text: string): IpRange | undefined {
  const [addressText = '', lengthText = '', ...more] = text.split('/')
  const address = parseIp(addressText)
  if (address === undefined || more.length > 0 || !/^\d+$/.test(lengthText)) return undefined
  const mapped = address.spelling === 'IPv4-mapped'
  const length = Number(lengthText)
  // the prefix length of an IPv4-mapped CIDR counts the bits of the IPv6 address
  if (length > (mapped ? 128 : widthOf(address.family))) return undefined
  return { address, length, paddedLength: /^0\d/.test(lengthText) }
}

/** The address with the bits behind the prefix cleared. */
export function networkOf({ address, length }: Pick<IpRange, 'address' | 'length'>): bigint {
  const bits = address.spelling === 'IPv4-mapped' ? Math.max(0, length - 96) : length
  const rest = BigInt(widthOf(address.family) - bits)
  return (address.bits >> rest) << rest
}

/** The first usable address of a range for Services, which Service default/kubernetes gets. */
export const firstAddress = (range: IpRange): string =>
  ipText({ family: range.address.family, bits: networkOf(range) + 1n })

export const cidrText = (range: IpRange): string =>
  `${ipText({ family: range.address.family, bits: networkOf(range) })}/${range.address.spelling === 'IPv4-mapped' ? Math.max(0, range.length - 96) : range.length}`

/** Whether `address` lies in `range`. */
export const contains = (range: IpRange, address: IpAddress): boolean =>
  range.address.family === address.family &&
  networkOf({ ...range, address: { ...address, spelling: range.address.spelling } }) === networkOf(range)

/** Whether all of `inner` lies in `outer`. */
export const containsRange = (outer: IpRange, inner: IpRange): boolean =>
  outer.length <= inner.length && contains(outer, inner.address)

const NOT_AN_ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
const NOT_A_RANGE = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'

const NONE: ReadonlySet<string> = new Set()

/** Errors of a field that is older than the check of spellings. Values in `existing` stay valid. */
export function legacyIpErrors(at: FieldPath, text: string, existing: ReadonlySet<string> = NONE): FieldError[] {
  if (existing.has(text)) return []
  const address = parseIp(text)
  if (address === undefined) return [invalidValue(at, text, NOT_AN_ADDRESS)]
  if (address.spelling === 'leading zeros') return [invalidValue(at, text, 'must not have leading 0s')]
  if (address.spelling === 'IPv4-mapped') return [invalidValue(at, text, 'must not be an IPv4-mapped IPv6 address')]
  return []
}

/** Errors of a field that accepts only the canonical spelling. */
export function ipErrors(at: FieldPath, text: string): FieldError[] {
  const errors = legacyIpErrors(at, text)
  if (errors.length > 0) return errors
  const canonical = ipText(parseIp(text)!)
  return text === canonical ? [] : [invalidValue(at, text, `must be in canonical form (${goQuote(canonical)})`)]
}

/** Like `legacyIpErrors`, for CIDRs. */
export function legacyCidrErrors(at: FieldPath, text: string, existing: ReadonlySet<string> = NONE): FieldError[] {
  if (existing.has(text)) return []
  const range = parseCidr(text)
  if (range === undefined) return [invalidValue(at, text, NOT_A_RANGE)]
  if (range.paddedLength || range.address.spelling === 'leading zeros')
    return [invalidValue(at, text, 'must not have leading 0s in IP or prefix length')]
  if (range.address.spelling === 'IPv4-mapped')
    return [invalidValue(at, text, 'must not have an IPv4-mapped IPv6 address')]
  if (networkOf(range) !== range.address.bits)
    return [invalidValue(at, text, 'must not have bits set beyond the prefix length')]
  return []
}

export function cidrErrors(at: FieldPath, text: string): FieldError[] {
  const errors = legacyCidrErrors(at, text)
  if (errors.length > 0) return errors
  const canonical = cidrText(parseCidr(text)!)
  return text === canonical ? [] : [invalidValue(at, text, `must be in canonical form (${goQuote(canonical)})`)]
}

/** Warnings about an address in an old field. */
export function ipWarnings(at: FieldPath, text: string): string[] {
  const address = parseIp(text)
  if (address === undefined) return []
  const canonical = goQuote(ipText(address))
  if (address.spelling !== 'plain')
    return [`${at}: non-standard IP address ${goQuote(text)} is invalid: use ${canonical}`]
  if (goQuote(text) === canonical) return []
  return [`${at}: IPv6 address ${goQuote(text)} should be in RFC 5952 canonical format (${canonical})`]
}

/** Warnings about a CIDR in an old field. */
export function cidrWarnings(at: FieldPath, text: string): string[] {
  const range = parseCidr(text)
  if (range === undefined) return []
  const { address } = range
  const canonical = goQuote(cidrText(range))
  const warnings: string[] = []
  if (networkOf(range) !== address.bits)
    warnings.push(
      `${at}: CIDR value ${goQuote(text)} is ambiguous in this context (should be ${canonical} or ${goQuote(`${ipText(address)}/${widthOf(address.family)}`)}?)`,
    )
  if (range.paddedLength || address.spelling !== 'plain')
    warnings.push(`${at}: non-standard CIDR value ${goQuote(text)} is invalid: use ${canonical}`)
  if (warnings.length > 0 || goQuote(text) === canonical) return warnings
  return [`${at}: IPv6 CIDR value ${goQuote(text)} should be in RFC 5952 canonical format (${canonical})`]
}

/** Errors of an endpoint's address. An endpoint cannot have an address that other hosts cannot reach. */
export function endpointIpErrors(text: string, at: FieldPath): FieldError[] {
  const address = parseIp(text)
  if (address === undefined) return [invalidValue(at, text, 'must be a valid IP address')]
  return kindsOfAddress()
    .filter(([ranges]) => ranges.some((range) => contains(range, address)))
    .map(([, problem]) => invalidValue(at, text, problem === '' ? `may not be unspecified (${text})` : problem))
}

const ranges = (...texts: string[]): IpRange[] => texts.map((text) => parseCidr(text)!)

const kindsOfAddress = lazy((): readonly (readonly [ranges: readonly IpRange[], problem: string])[] => [
  [ranges('0.0.0.0/32', '::/128'), ''],
  [ranges('127.0.0.0/8', '::1/128'), 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [ranges('169.254.0.0/16', 'fe80::/10'), 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  [ranges('224.0.0.0/24', 'ff02::/16'), 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
])
