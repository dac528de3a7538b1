/** Arithmetic, formatting and parsing of timestamps and durations, as in Go's time package. */
import { goQuote } from '../../go/quote.ts'
import { offsetOfZone } from '../../base/time-zone.ts'
import { withoutTrailing } from '../../base/trim.ts'
import type { Value } from './value.ts'
import { CelError, Duration, Timestamp } from './value.ts'
import { MAX_INT, MIN_INT } from './numbers.ts'

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, in seconds since 1970. */
export const MIN_TIME = -62135596800n
export const MAX_TIME = 253402300799n
const NANOS = 1_000_000_000n

export const timestampOverflow = (): CelError => new CelError('timestamp overflow')

export const checkedDuration = (nanos: bigint): Value =>
  nanos >= MIN_INT && nanos <= MAX_INT ? new Duration(nanos) : new CelError('integer overflow')

/** @param nanos nanoseconds since 1970 */
function timestampOfNanos(nanos: bigint, offset: number): Value {
  let seconds = nanos / NANOS
  let rest = nanos % NANOS
  if (rest < 0n) {
    seconds -= 1n
    rest += NANOS
  }
  return seconds < MIN_TIME || seconds > MAX_TIME ? timestampOverflow() : new Timestamp(seconds, Number(rest), offset)
}

export const nanosOf = ({ seconds, nanos }: Timestamp): bigint => seconds * NANOS + BigInt(nanos)

export const shifted = (time: Timestamp, nanos: bigint): Value => timestampOfNanos(nanosOf(time) + nanos, time.offset)

export const between = (a: Timestamp, b: Timestamp): Value => checkedDuration(nanosOf(a) - nanosOf(b))

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/

/** Parses RFC 3339 as Go's time.Parse does. Undefined: the text is no timestamp. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const parts = RFC3339.exec(text)
  if (parts === null) return undefined
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ] // six groups that are always there
  const [fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = parts.slice(7)
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1) return undefined
  if (Number(offsetHours) > 24 || Number(offsetMinutes) > 60) return undefined
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1)
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset * 60
  return new Timestamp(BigInt(seconds), Number(fraction.padEnd(9, '0').slice(0, 9)), offset)
}

export const inRange = ({ seconds }: Timestamp): boolean => seconds >= MIN_TIME && seconds <= MAX_TIME

/** RFC 3339 with only as many fraction digits as needed. */
export function timestampText({ seconds, nanos, offset }: Timestamp): string {
  const whole = dateText(new Date((Number(seconds) + offset * 60) * 1000))
  const fraction = nanos === 0 ? '' : `.${withoutTrailing(String(nanos).padStart(9, '0'), '0')}`
  return `${whole}${fraction}${offset === 0 ? 'Z' : offsetText(offset)}`
}

function offsetText(minutes: number): string {
  const absolute = Math.abs(minutes)
  const parts = [Math.floor(absolute / 60), absolute % 60].map((part) => String(part).padStart(2, '0'))
  return `${minutes < 0 ? '-' : '+'}${parts.join(':')}`
}

const dateText = (date: Date): string =>
  date
    .toISOString()
    .replace(/^[+-]0*(?=\d{4}-)/, '')
    .slice(0, 19)

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', NANOS],
  ['m', 60n * NANOS],
  ['h', 3600n * NANOS],
])

/** The most digits of a 64-bit number. A longer number is out of range, and parsing it would take long. */
const MAX_DIGITS = 20

/** Go's time.ParseDuration. Undefined: the text is no duration, or out of range. */
export function parseDuration(text: string): Duration | undefined {
  const sign = text.startsWith('-') ? -1n : 1n
  const rest = /^[+-]/.test(text) ? text.slice(1) : text
  if (rest === '0') return new Duration(0n)
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) return undefined
  let nanos = 0n
  // pattern: the test above has matched the whole text with parts like these
  for (const [, whole = '', fraction = '', unit = ''] of rest.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g)) {
    const scale = UNITS.get(unit)!
    if (whole.length - Math.max(0, whole.search(/[1-9]/)) > MAX_DIGITS) return undefined
    nanos += BigInt(whole === '' ? '0' : whole) * scale + fractionOf(fraction, scale)
    if (nanos > MAX_INT + 1n) return undefined
  }
  const signed = sign * nanos
  return signed > MAX_INT ? undefined : new Duration(signed)
}

/** The value of fraction digits. Digits that an int64 cannot hold are cut off. */
function fractionOf(digits: string, scale: bigint): bigint {
  const counted = digits.slice(0, 18)
  return counted === '' ? 0n : (BigInt(counted) * scale) / 10n ** BigInt(counted.length)
}

/** The duration in seconds: `5405.5s`. Like cel-go's it has the digits of a float64. */
export function durationText({ nanos }: Duration): string {
  const seconds = Number(nanos / NANOS) + Number(nanos % NANOS) / Number(NANOS)
  const text = String(seconds)
  // below a microsecond JavaScript writes an exponent
  return `${text.includes('e') ? withoutTrailing(seconds.toFixed(9), '0') : text}s`
}

/**
 * The calendar fields of a timestamp in a time zone, as the UTC fields of a Date.
 * @param zone a name of the IANA database, or `+HH:MM`
 * @returns an error for other zones
 */
export function calendarIn(time: Timestamp, zone: string): Date | CelError {
  const offset = zoneOffset(time, zone)
  if (offset instanceof CelError) return offset
  return new Date((Number(time.seconds) + offset) * 1000)
}

function zoneOffset(time: Timestamp, zone: string): number | CelError {
  if (zone === '' || zone === 'UTC') return 0
  const colon = zone.indexOf(':')
  if (colon === -1) return namedOffset(time, zone)
  const hours = zone.slice(0, colon)
  const minutes = zone.slice(colon + 1)
  for (const part of [hours, minutes])
    if (!/^[+-]?\d+$/.test(part)) return new CelError(`strconv.Atoi: parsing ${goQuote(part)}: invalid syntax`)
  const sign = hours.startsWith('-') ? -1 : 1
  return (Number(hours) * 60 + sign * Number(minutes)) * 60
}

function namedOffset(time: Timestamp, zone: string): number | CelError {
  try {
    return offsetOfZone(zone)(Number(time.seconds))
  } catch {
    return new CelError(`unknown time zone ${zone}`)
  }
}
