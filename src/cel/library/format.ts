/** `'%s is %.2f'.format([a, b])` as cel-go's first formatter writes it, in its locale en_US. */
import { goQuote } from '../../go/quote.ts'
import { toDouble, toText } from '../conversions.ts'
import { runtimeType, runtimeTypeName } from '../runtime-types.ts'
import { compareTexts } from './standard.ts'
import type { Value } from '../value.ts'
import { CelError, Duration, ListValue, MapValue, Timestamp, TypeValue, Uint } from '../value.ts'

/** What a clause writes, or an error. */
type Clause = (value: Value) => string | CelError

const DEFAULT_PRECISION = 6

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
    text += written
    i = clause.end
  }
  return text
}

/** @param begin behind the `%` */
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
        `error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing ${JSON.stringify(digits)}: ${digits === '' ? 'invalid syntax' : 'value out of range'}`,
      )
    precision = Number(digits)
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

/** A value inside of a list or map. */
function nested(value: Value): string | CelError {
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'number')
    return Number.isFinite(value) ? value.toFixed(DEFAULT_PRECISION) : goQuote(special(value))
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

function listText(list: ListValue): string | CelError {
  const parts: string[] = []
  for (let i = 0; i < list.size; i++) {
    const part = nested(list.at(i))
    if (part instanceof CelError) return part
    parts.push(part)
  }
  return `[${parts.join(', ')}]`
}

function mapText(map: MapValue): string | CelError {
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

/** Groups of three digits, as English writes them. */
function fixed(value: number, precision: number): string {
  if (!Number.isFinite(value)) return infinite(value)
  const [integer = '', fraction] = exactDecimal(value, precision).split('.')
  const grouped = integer.replace(/\B(?=(?:\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** JavaScript's toFixed ends at 100 digits and 1e21: from there on the digits of the double itself count. */
function exactDecimal(value: number, precision: number): string {
  if (precision <= 100 && Math.abs(value) < 1e21) return value.toFixed(precision)
  const whole = BigInt(Math.trunc(value)).toString()
  const rest = Math.abs(value % 1)
    .toFixed(Math.min(precision, 100))
    .slice(2)
  return precision === 0 ? whole : `${whole}.${rest.padEnd(precision, '0')}`
}

/** `1.234568 × 10⁰³` */
function scientific(value: number, precision: number): string {
  if (!Number.isFinite(value)) return infinite(value)
  const [mantissa = '', exponent = ''] = value.toExponential(Math.min(precision, 100)).split('e')
  const digits = String(Math.abs(Number(exponent))).padStart(2, '0')
  const sign = exponent.startsWith('-') ? '⁻' : ''
  return `${mantissa}\u202f×\u202f10${sign}${[...digits].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('')}`
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

/** `strings.quote`: only what CEL cannot have in a literal is escaped. */
export const quoted = (text: string): string =>
  `"${[...text.toWellFormed()].map((char) => escapes.get(char) ?? char).join('')}"`
