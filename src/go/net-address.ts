/** Parses addresses and prefixes as Go's net/netip does, with its error messages. IPv4 has only one spelling. */
import { goQuote } from './quote.ts'
import type { IpAddress } from '../api/ip-addresses.ts'
import { parseIp } from '../api/ip-addresses.ts'

export interface Problem {
  readonly problem: string
}

export const isProblem = (read: object): read is Problem => 'problem' in read

export interface Prefix {
  readonly address: IpAddress
  readonly length: number
}

/** Parses an address. The `spelling` tells an IPv4-mapped IPv6 address from an IPv4 address. */
export function parseAddress(text: string): IpAddress | Problem {
  const wrong = problemOf(text)
  if (wrong !== undefined) {
    const [message, at] = wrong
    return { problem: `ParseAddr(${goQuote(text)}): ${message}${at === undefined ? '' : ` (at ${goQuote(at)})`}` }
  }
  return parseIp(withoutZone(text))!
}

export const zoneOf = (text: string): string => (text.includes('%') ? text.slice(text.indexOf('%') + 1) : '')
const withoutZone = (text: string): string => text.split('%', 1)[0]!

export function parsePrefix(text: string): Prefix | Problem {
  const refused = (message: string): Problem => ({ problem: `netip.ParsePrefix(${goQuote(text)}): ${message}` })
  const slash = text.lastIndexOf('/')
  if (slash < 0) return refused("no '/'")
  const addressText = text.slice(0, slash)
  const address = parseAddress(addressText)
  if (isProblem(address)) return refused(address.problem)
  if (zoneOf(addressText) !== '') return refused('IPv6 zones cannot be present in a prefix')
  const bits = text.slice(slash + 1)
  if (!/^(?:\d|[1-9]\d*)$/.test(bits)) return refused(`bad bits after slash: ${goQuote(bits)}`)
  const length = Number(bits)
  if (length < 0 || length > (addressText.includes(':') ? 128 : 32)) return refused('prefix length out of range')
  return { address, length }
}

type Wrong = readonly [message: string, at?: string] | undefined

function problemOf(text: string): Wrong {
  const first = /[.:%]/.exec(text)?.[0]
  if (first === undefined) return ['unable to parse IP']
  if (first === '%') return ['missing IPv6 address']
  return first === '.' ? ipv4Problem(text) : ipv6Problem(text)
}

function ipv4Problem(text: string): Wrong {
  let value = 0
  let digits = 0
  let dots = 0
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (/\d/.test(character)) {
      if (digits === 1 && value === 0) return ['IPv4 field has octet with leading zero']
      value = value * 10 + Number(character)
      digits++
      if (value > 255) return ['IPv4 field has value >255']
    } else if (character === '.') {
      if (i === 0 || i === text.length - 1 || text[i - 1] === '.')
        return ['IPv4 field must have at least one digit', text.slice(i)]
      if (dots === 3) return ['IPv4 address too long']
      dots++
      value = digits = 0
    } else return ['unexpected character', text.slice(i)]
  }
  return dots < 3 ? ['IPv4 address too short'] : undefined
}

function ipv6Problem(text: string): Wrong {
  if (text.includes('%') && zoneOf(text) === '') return ['zone must be a non-empty string']
  let rest = withoutZone(text)
  let shortened = rest.startsWith('::')
  if (shortened) rest = rest.slice(2)
  if (shortened && rest === '') return undefined
  let bytes = 0
  while (bytes < 16) {
    const digits = /^[0-9a-f]*/i.exec(rest)![0]
    if (digits.length > 4) return ['each group must have 4 or less digits', rest]
    if (digits === '') return ['each colon-separated field must have at least one digit', rest]
    if (rest[digits.length] === '.') {
      if (!shortened && bytes !== 12)
        return ['embedded IPv4 address must replace the final 2 fields of the address', rest]
      if (bytes > 12) return ['too many hex fields to fit an embedded IPv4 at the end of the address', rest]
      const wrong = ipv4Problem(rest)
      if (wrong !== undefined) return wrong
      bytes += 4
      rest = ''
      break
    }
    bytes += 2
    rest = rest.slice(digits.length)
    if (rest === '') break
    if (!rest.startsWith(':')) return ['unexpected character, want colon', rest]
    if (rest.length === 1) return ['colon must be followed by more characters', rest]
    rest = rest.slice(1)
    if (rest.startsWith(':')) {
      if (shortened) return ['multiple :: in address', rest]
      shortened = true
      rest = rest.slice(1)
      if (rest === '') break
    }
  }
  if (rest !== '') return ['trailing garbage after address', rest]
  if (bytes < 16) return shortened ? undefined : ['address string too short']
  return shortened ? ['the :: must expand to at least one field of zeros'] : undefined
}
