/** Parses and formats times and durations like Go (meta/v1 Time and MicroTime, time.Duration). */
import { withoutTrailing } from '../base/trim.ts'
import { ownValue } from '../base/own.ts'

/** The text is no time or duration. `message` is Go's. */
export class TimeError extends Error {
  override readonly name = 'TimeError'
}

/** A point in time: whole seconds since 1970, and nanoseconds beyond them. */
export interface Instant {
  readonly seconds: number
  readonly nanos: number
}

/** Go's zero time, 0001-01-01T00:00:00Z, which is null in JSON. */
export const ZERO_TIME_SECONDS = -62135596800

export const isZeroTime = ({ seconds, nanos }: Instant): boolean => seconds === ZERO_TIME_SECONDS && nanos === 0

const RFC3339 = '2006-01-02T15:04:05Z07:00'
const RFC3339_MICRO = '2006-01-02T15:04:05.000000Z07:00'

/** @throws {TimeError} */
export const parseTime = (text: string): Instant => new TimeParser(text, RFC3339).parse()

/** RFC 3339 with exactly six digits after the point. @throws {TimeError} */
export const parseMicroTime = (text: string): Instant => new TimeParser(text, RFC3339_MICRO).parse()

/** `2006-01-02T15:04:05Z`, without fractions of a second. */
export const formatTime = ({ seconds }: Instant): string => `${isoSeconds(seconds)}Z`

/** `2006-01-02T15:04:05.000000Z` */
export const formatMicroTime = ({ seconds, nanos }: Instant): string =>
  `${isoSeconds(seconds)}.${String(Math.trunc(nanos / 1000)).padStart(6, '0')}Z`

/** The text of a Time field. */
export const timeText = (date: Date): string => formatTime(instantOf(date))

/** The text of a MicroTime field. */
export const microTimeText = (date: Date): string => formatMicroTime(instantOf(date))

const instantOf = (date: Date): Instant => {
  const milliseconds = date.getTime()
  const seconds = Math.floor(milliseconds / 1000)
  return { seconds, nanos: (milliseconds - seconds * 1000) * 1e6 }
}

// toISOString has 24 characters for years 0 to 9999
const isoSeconds = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, -5)

/** Elements of Go's layouts after the year, each with the separator before it. */
const elements = [
  ['', '2006'],
  ['-', '01'],
  ['-', '02'],
  ['T', '15'],
  [':', '04'],
  [':', '05'],
] as const

/** Parses one text by a layout like Go's time.Parse, with the same error texts. */
class TimeParser {
  private readonly text: string
  private readonly layout: string
  private rest: string
  private nanos = 0

  constructor(text: string, layout: string) {
    this.text = text
    this.layout = layout
    this.rest = text
  }

  parse(): Instant {
    const [year, month, day, hour, minute, second] = elements.map(([before, element]) => {
      this.skip(before)
      return this.element(element)
    }) as [number, number, number, number, number, number]
    if (this.layout === RFC3339_MICRO) this.microseconds()
    const offset = this.zone()
    if (this.rest !== '') throw this.problem(`: extra text: ${quote(this.rest)}`)
    const date = new Date(0)
    date.setUTCFullYear(year, month - 1, day)
    if (day < 1 || date.getUTCDate() !== day) throw this.problem(': day out of range')
    date.setUTCHours(hour, minute, second)
    return { seconds: date.getTime() / 1000 - offset, nanos: this.nanos }
  }

  private skip(before: string): void {
    if (before === '') return
    if (!this.rest.startsWith(before)) throw this.cannotParse(this.rest, before)
    this.rest = this.rest.slice(before.length)
  }

  private element(element: string): number {
    switch (element) {
      case '2006':
        return this.year()
      case '01':
        return this.inRange(this.digits(element, true), 1, 12, 'month')
      case '02':
        return this.digits(element, true)
      case '15':
        return this.inRange(this.digits(element, false), 0, 23, 'hour')
      case '04':
        return this.inRange(this.digits(element, true), 0, 59, 'minute')
    }
    const second = this.inRange(this.digits(element, true), 0, 59, 'second')
    if (this.layout === RFC3339) this.fraction()
    return second
  }

  private year(): number {
    const digits = this.rest.slice(0, 4)
    if (!/^\d{4}$/.test(digits)) throw this.cannotParse(this.rest, '2006')
    this.rest = this.rest.slice(4)
    return Number(digits)
  }

  /** Two digits, or one where the layout allows it. */
  private digits(element: string, two: boolean): number {
    const digits = (two ? /^\d\d/ : /^\d\d?/).exec(this.rest)?.[0]
    if (digits === undefined) throw this.cannotParse(this.rest, element)
    this.rest = this.rest.slice(digits.length)
    return Number(digits)
  }

  private inRange(value: number, low: number, high: number, what: string): number {
    if (value < low || value > high) throw this.problem(`: ${what} out of range`)
    return value
  }

  /** Go accepts a fraction after a point or a comma, even if the layout has none. */
  private fraction(): void {
    const digits = /^[.,](\d+)/.exec(this.rest)
    if (digits === null) return
    this.nanos = Number(digits[1]!.slice(0, 9).padEnd(9, '0'))
    this.rest = this.rest.slice(digits[0].length)
  }

  private microseconds(): void {
    const digits = /^[.,](\d{6})/.exec(this.rest)
    if (digits === null) throw this.cannotParse(this.rest, '.000000')
    this.nanos = Number(digits[1]) * 1000
    this.rest = this.rest.slice(7)
  }

  /** Seconds east of Greenwich. */
  private zone(): number {
    if (this.rest.startsWith('Z')) {
      this.rest = this.rest.slice(1)
      return 0
    }
    const zone = /^([+-])(\d\d):(\d\d)/.exec(this.rest)
    if (zone === null) throw this.cannotParse(this.rest, 'Z07:00')
    this.rest = this.rest.slice(6)
    const [hours, minutes] = [Number(zone[2]), Number(zone[3])]
    this.inRange(minutes, 0, 60, 'time zone offset minute')
    this.inRange(hours, 0, 24, 'time zone offset hour')
    return (zone[1] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60)
  }

  private cannotParse(what: string, element: string): TimeError {
    return this.problem(` as ${quote(this.layout)}: cannot parse ${quote(what)} as ${quote(element)}`)
  }

  private problem(message: string): TimeError {
    return new TimeError(`parsing time ${quote(this.text)}${message}`)
  }
}

/** Go's time package quotes a text byte by byte. */
function quote(text: string): string {
  let out = '"'
  for (const character of text) {
    if (character === '"' || character === '\\') out += `\\${character}`
    else if (character >= ' ' && character <= '\x7f') out += character
    else for (const byte of new TextEncoder().encode(character)) out += `\\x${byte.toString(16).padStart(2, '0')}`
  }
  return `${out}"`
}

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}

/** Nanoseconds of `1h2m3.5s`. @throws {TimeError} */
export function parseDuration(text: string): bigint {
  const [, sign, body] = /^([+-]?)(.*)$/s.exec(text)!
  if (body === '0') return 0n
  const wrong = () => new TimeError(`time: invalid duration ${quote(text)}`)
  if (body === '') throw wrong()
  let total = 0n
  for (let rest = body!; rest !== '';) {
    const part = /^(\d*)(?:\.(\d*))?/.exec(rest)!
    const [number, whole, fraction = ''] = part
    if (whole === '' && fraction === '') throw wrong()
    rest = rest.slice(number.length)
    const name = /^[^.\d]*/.exec(rest)![0]
    if (name === '') throw new TimeError(`time: missing unit in duration ${quote(text)}`)
    const unit = ownValue(units, name)
    if (unit === undefined) throw new TimeError(`time: unknown unit ${quote(name)} in duration ${quote(text)}`)
    rest = rest.slice(name.length)
    total += wholeUnits(whole!) * unit + partOf(fraction, unit)
    if (total > 2n ** 63n - (sign === '-' ? 0n : 1n)) throw wrong()
  }
  return sign === '-' ? -total : total
}

/** A number with this many digits exceeds 64 bits. Decimals beyond them are less than a nanosecond in any unit. */
const MANY_DIGITS = 20

function wholeUnits(digits: string): bigint {
  const first = digits.search(/[^0]/)
  if (first < 0) return 0n
  return digits.length - first > MANY_DIGITS ? 2n ** 64n : BigInt(digits.slice(first))
}

function partOf(fraction: string, unit: bigint): bigint {
  const digits = fraction.slice(0, MANY_DIGITS)
  return (BigInt(digits || '0') * unit) / 10n ** BigInt(digits.length)
}

/** Go's text of a duration in nanoseconds: `1h2m3.5s`, `1.5ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s'
  const sign = nanoseconds < 0n ? '-' : ''
  const total = nanoseconds < 0n ? -nanoseconds : nanoseconds
  if (total < 1000n) return `${sign}${total}ns`
  if (total < 1_000_000n) return `${sign}${decimal(total, 3)}µs`
  if (total < 1_000_000_000n) return `${sign}${decimal(total, 6)}ms`
  const minutes = total / 60_000_000_000n
  const seconds = `${decimal(total % 60_000_000_000n, 9)}s`
  if (minutes === 0n) return `${sign}${seconds}`
  const hours = minutes / 60n
  return `${sign}${hours === 0n ? '' : `${hours}h`}${minutes % 60n}m${seconds}`
}

/** `value / 10^digits` without trailing zeros. */
function decimal(value: bigint, digits: number): string {
  const factor = 10n ** BigInt(digits)
  const fraction = withoutTrailing(String(value % factor).padStart(digits, '0'), '0')
  return `${value / factor}${fraction === '' ? '' : `.${fraction}`}`
}
