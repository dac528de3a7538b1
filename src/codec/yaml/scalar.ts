/** Resolves plain YAML scalars like Kubernetes' YAML library: YAML 1.1 booleans, octal numbers, no sexagesimals. */
import { wholeNumber } from '../../json/numbers.ts'

/** Only an explicit `!!int` or `!!float` distinguishes floats from integers. */
export type Scalar =
  | { readonly tag: '!!str'; readonly value: string }
  | { readonly tag: '!!bool'; readonly value: boolean }
  | { readonly tag: '!!null'; readonly value: null }
  /** `text` is the decimal number; `value` is undefined beyond an int64. */
  | { readonly tag: '!!int'; readonly value: number | bigint | undefined; readonly text: string }
  | { readonly tag: '!!float'; readonly value: number }
  | { readonly tag: '!!timestamp'; readonly value: string }

/** Bound: the names below. */
const named = new Map<string, Scalar>()
const name = (scalar: Scalar, ...texts: string[]) => texts.forEach((text) => named.set(text, scalar))
name({ tag: '!!bool', value: true }, 'y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON')
name({ tag: '!!bool', value: false }, 'n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF')
name({ tag: '!!null', value: null }, '', '~', 'null', 'Null', 'NULL')
name({ tag: '!!float', value: NaN }, '.nan', '.NaN', '.NAN')
name({ tag: '!!float', value: Infinity }, '.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF')
name({ tag: '!!float', value: -Infinity }, '-.inf', '-.Inf', '-.INF')

const float = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/
const date = /^\d{4}-\d{1,2}-\d{1,2}$/
const moment =
  /^\d{4}-\d{1,2}-\d{1,2}(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)| \d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?)$/

/** Resolves an untagged plain scalar. */
export function resolveScalar(text: string): Scalar {
  const known = named.get(text)
  if (known !== undefined) return known
  return (/^[-+.0-9]/.test(text) ? resolveNumber(text) : undefined) ?? { tag: '!!str', value: text }
}

function resolveNumber(text: string): Scalar | undefined {
  if (text.startsWith('.')) return float.test(text) ? { tag: '!!float', value: Number(text) } : undefined
  if (isTimestamp(text)) return { tag: '!!timestamp', value: text }
  const plain = text.replaceAll('_', '')
  const integer = integerOf(plain)
  if (integer !== undefined) return integer
  if (!float.test(plain)) return undefined
  const value = Number(plain)
  return Number.isFinite(value) ? { tag: '!!float', value } : undefined
}

function isTimestamp(text: string): boolean {
  if (!date.test(text) && !moment.test(text)) return false
  const [year, month, day, hour = 0, minute = 0, second = 0] = text.match(/\d+/g)!.map(Number)
  const inRange = month! >= 1 && month! <= 12 && hour < 24 && minute < 60 && second < 60
  return inRange && day! >= 1 && day! <= new Date(Date.UTC(year!, month!, 0)).getUTCDate()
}

const MAX_UINT64 = 2n ** 64n - 1n
const MIN_INT64 = -(2n ** 63n)

/** The length of MAX_UINT64 in decimal digits, which take BigInt long. It reads digits of other bases fast. */
const LONGEST = 20

/** Parses integers with Go's prefixes: 0x, 0o, 0b, and 0 for octal. */
function integerOf(text: string): Scalar | undefined {
  const [, sign, digits] = /^([-+]?)(.+)$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits
  if (!/^(?:0|[1-9]\d*|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)$/.test(octal)) return undefined
  if (/^[1-9]/.test(octal) && octal.length > LONGEST) return undefined
  const magnitude = BigInt(octal)
  const value = sign === '-' ? -magnitude : magnitude
  if (value > MAX_UINT64 || value < MIN_INT64) return undefined
  return { tag: '!!int', value: wholeNumber(String(value)), text: String(value) }
}
