/** `'%s is %.2f'.format([a, b])` with the output of cel-go's first formatter, in its locale en_US. */
import { goQuote } from '../../go/quote.ts'
import { toDouble, toText } from '../values/conversions.ts'
import { runtimeType, runtimeTypeName } from '../values/runtime-types.ts'
import { compareTexts } from '../values/order.ts'
import type { Value } from '../values/value.ts'
import { visit, work } from '../evaluation/work.ts'
import { CelError, Duration, ListValue, MapValue, Timestamp, TypeValue, Uint } from '../values/value.ts'

/** Formats the argument of a clause, or returns an error. */
type Clause = (value: Value) => string | CelError

const DEFAULT_PRECISION = 6
/** No double has more fraction digits. The limit is needed because the length of the output has no cost. */
const MAX_PRECISION = 1100

export function format(pattern: string, args: ListValue): Value {
  let text = ''
  let index = 0
  for (let i = 0; i < pattern.length;) {
    if (pattern[i] !== '%') {
      text += pattern[i++]
      continue
    }
    if (pattern[i + 1] === '%') {
      text += '%'
      i += 2
      continue
    }
    if (index >= args.size) return new CelError(`index ${index} out of range`)
    if (i + 1 >= pattern.length) return new CelError('unexpected end of string')
    const clause = clauseAt(pattern, i + 1)
    if (clause instanceof CelError) return new CelError(`could not parse formatting clause: ${clause.message}`)
    const written = clause.write(args.at(index++))
    if (written instanceof CelError) return new CelError(`error during formatting: ${written.message}`)
    work(written.length)
    text += written
    i = clause.end
  }
  return text
}

/** @param begin position behind the `%` */
export function clauseAt(pattern: string, begin: number): { write: Clause; letter: string; end: number } | CelError {
  let at = begin
  let precision: number | undefined
  if (pattern[at] === '.') {
    const digits = /^\d*/.exec(pattern.slice(at + 1))![0]
    at += 1 + digits.length
    if (at >= pattern.length)
      return new CelError('error while parsing precision: could not find end of precision specifier')
    if (digits === '' || Number(digits) > Number.MAX_SAFE_INTEGER)
      return new CelError(
        `error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing ${goQuote(digits)}: ${digits === '' ? 'invalid syntax' : 'value out of range'}`,
      )
    precision = Number(digits)
    if (precision > MAX_PRECISION) return new CelError(`precision ${digits} is larger than ${MAX_PRECISION}`)
  }
  const letter = String.fromCodePoint(pattern.codePointAt(at)!)
  const write = clauses(letter, precision ?? DEFAULT_PRECISION)
  if (write === undefined) return new CelError(`unrecognized formatting clause "${letter}"`)
  return { write, letter, end: at + letter.length }
}

function clauses(letter: string, precision: number): Clause | undefined {
  switch (letter) {
    case 's':
      return asText
    case 'd':
      return decimal
    case 'f':
      return (value) => real(value, 'fixed-point', (number) => fixed(number, precision))
    case 'e':
      return (value) => real(value, 'scientific', (number) => scientific(number, precision))
    case 'b':
      return binaryDigits
    case 'o':
      return octal
    case 'x':
      return hexadecimal
    case 'X':
      return (value) => {
        const digits = hexadecimal(value)
        return typeof digits === 'string' ? digits.toUpperCase() : digits
      }
    default:
      return undefined
  }
}

const typeName = (value: Value): string => runtimeTypeName(runtimeType(value))

export const clauseProblems = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ',
  d: 'decimal clause can only be used on integers, was given ',
  f: 'fixed-point clause can only be used on doubles, was given ',
  e: 'scientific clause can only be used on doubles, was given ',
  b: 'only integers and bools can be formatted as binary, was given ',
  x: 'only integers, byte buffers, and strings can be formatted as hex, was given ',
  X: 'only integers, byte buffers, and strings can be formatted as hex, was given ',
  o: 'octal clause can only be used on integers, was given ',
} as const

const problem = (letter: keyof typeof clauseProblems, value: Value): CelError =>
  new CelError(clauseProblems[letter] + typeName(value))

function asText(value: Value): string | CelError {
  if (value === null) return 'null'
  if (value instanceof ListValue) return listText(value)
  if (value instanceof MapValue) return mapText(value)
  if (value instanceof TypeValue) return runtimeTypeName(value.type)
  const text = toText(value)
  if (typeof text === 'string') return text
  if (value instanceof Uint8Array && text instanceof CelError)
    return new CelError(`could not convert argument ${goQuote(text.message)} to string`)
  return problem('s', value)
}

/** Formats a value inside of a list or a map. */
function nested(value: Value): string | CelError {
  if (typeof value === 'string') {
    work(value.length)
    return goQuote(value)
  }
  if (typeof value === 'number') return Number.isFinite(value) ? plainText(value) : goQuote(special(value))
  if (value instanceof Timestamp) return `timestamp(${goQuote(String(toText(value)))})`
  if (value instanceof Duration) return `duration(${goQuote(String(toText(value)))})`
  if (value instanceof Uint8Array) {
    const text = asText(value)
    return typeof text === 'string' ? `b${goQuote(text)}` : text
  }
  const text = asText(value)
  return text instanceof CelError && text.message.startsWith('string clause')
    ? new CelError(`no formatting function for ${typeName(value)}`)
    : text
}

const special = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf')

/** Formats a double like Go's `%.6f`. */
function plainText(value: number): string {
  const sign = Object.is(value, -0) ? '-' : signOf(value)
  return sign + decimalDigits(value, DEFAULT_PRECISION).join('.')
}

function listText(list: ListValue): string | CelError {
  visit(list.size)
  const parts: string[] = []
  for (let i = 0; i < list.size; i++) {
    const part = nested(list.at(i))
    if (part instanceof CelError) return part
    parts.push(part)
  }
  return `[${parts.join(', ')}]`
}

function mapText(map: MapValue): string | CelError {
  visit(map.size)
  const parts: [key: string, value: string][] = []
  for (const key of map.keys()) {
    const isKey = ['string', 'boolean', 'bigint'].includes(typeof key) || key instanceof Uint
    if (!isKey) return new CelError(`no formatting function for map key of type ${typeName(key)}`)
    const keyText = nested(key)
    const value = nested(map.get(key)!)
    if (keyText instanceof CelError) return keyText
    if (value instanceof CelError) return value
    parts.push([keyText, value])
  }
  parts.sort(([a], [b]) => compareTexts(a, b))
  return `{${parts.map(([key, value]) => `${key}:${value}`).join(', ')}}`
}

function decimal(value: Value): string | CelError {
  const number = wholeOf(value)
  return number === undefined ? problem('d', value) : String(number)
}

const wholeOf = (value: Value): bigint | undefined =>
  typeof value === 'bigint' ? value : value instanceof Uint ? value.value : undefined

function binaryDigits(value: Value): string | CelError {
  if (typeof value === 'boolean') return value ? '1' : '0'
  return wholeOf(value)?.toString(2) ?? problem('b', value)
}

const octal = (value: Value): string | CelError => wholeOf(value)?.toString(8) ?? problem('o', value)

function hexadecimal(value: Value): string | CelError {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
  if (bytes instanceof Uint8Array) return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return wholeOf(value)?.toString(16) ?? problem('x', value)
}

function real(value: Value, kind: 'fixed-point' | 'scientific', write: (number: number) => string): string | CelError {
  const isNamed = value === 'NaN' || value === 'Infinity' || value === '-Infinity'
  const number = typeof value === 'number' ? value : isNamed ? toDouble(value) : undefined
  return typeof number === 'number' ? write(number) : problem(kind === 'fixed-point' ? 'f' : 'e', value)
}

const infinite = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '-∞')

/** Fixed-point form with commas between groups of three digits, as in English. */
function fixed(value: number, precision: number): string {
  if (!Number.isFinite(value)) return infinite(value)
  const [integer, fraction] = decimalDigits(value, precision)
  // pattern: a number has 309 digits before the point at most
  const grouped = integer.replace(/\B(?=(?:\d{3})+$)/g, ',')
  return `${signOf(value)}${fraction === '' ? grouped : `${grouped}.${fraction}`}`
}

/** The sign of a number. Negative zero has no sign. */
const signOf = (value: number): string => (value < 0 ? '-' : '')

/**
 * Scientific form: `1.234568×10⁰³`. The number in the clause is the minimum width, because cel-go passes it to Go so.
 */
const scientific = (value: number, width: number): string =>
  (Number.isFinite(value) ? scientificDigits(value) : infinite(value)).padStart(width)

function scientificDigits(value: number): string {
  const exact = value === 0 ? 0 : Number(value.toExponential(20).split('e')[1])
  const rounded = scaled(value, DEFAULT_PRECISION - exact)
  const isLonger = rounded === 10n ** BigInt(DEFAULT_PRECISION + 1)
  const digits = (isLonger ? rounded / 10n : rounded).toString().padStart(DEFAULT_PRECISION + 1, '0')
  const exponent = isLonger ? exact + 1 : exact
  const shown = String(Math.abs(exponent)).padStart(2, '0')
  const power = [...shown].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('')
  return `${signOf(value)}${digits[0]}.${digits.slice(1)}×10${exponent < 0 ? '⁻' : ''}${power}`
}

function decimalDigits(value: number, precision: number): [integer: string, fraction: string] {
  const digits = scaled(value, precision)
    .toString()
    .padStart(precision + 1, '0')
  return [digits.slice(0, digits.length - precision), digits.slice(digits.length - precision)]
}

/** |value| × 10^power, rounded half to even. */
function scaled(value: number, power: number): bigint {
  const { mantissa, exponent } = partsOf(value)
  const factor = 10n ** BigInt(Math.abs(power))
  const numerator = mantissa * (power > 0 ? factor : 1n) * (exponent > 0 ? 1n << BigInt(exponent) : 1n)
  const denominator = (power < 0 ? factor : 1n) * (exponent < 0 ? 1n << BigInt(-exponent) : 1n)
  const whole = numerator / denominator
  const rest = 2n * (numerator % denominator)
  return rest > denominator || (rest === denominator && whole % 2n === 1n) ? whole + 1n : whole
}

/** Splits a double into mantissa × 2^exponent. */
function partsOf(value: number): { readonly mantissa: bigint; readonly exponent: number } {
  const bits = new BigUint64Array(new Float64Array([Math.abs(value)]).buffer)[0]!
  const biased = Number(bits >> 52n)
  const fraction = bits & ((1n << 52n) - 1n)
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: biased - 1075 }
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
])

const ESCAPED = /[\x07\b\f\n\r\t\v\\"]/g

/** `strings.quote`. It escapes only the characters that a CEL literal cannot contain. */
export const quoted = (text: string): string =>
  `"${text.toWellFormed().replace(ESCAPED, (char) => escapes.get(char) ?? char)}"`
