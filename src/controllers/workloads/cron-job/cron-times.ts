/** The times of a CronJob's schedule, which was validated when it was stored. */
import { offsetOfZone } from '../../../base/time-zone.ts'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A schedule without a time in this period, such as the 30th of February, never has one. */
const NEVER_MS = 5 * 366 * DAY

const descriptors: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

interface Field {
  readonly values: ReadonlySet<number>
  readonly isAny: boolean
}

/** The first time after `after`, in milliseconds since 1970; undefined: never. */
export type Next = (after: number) => number | undefined

/** @param zone the IANA name of a time zone */
export function cronTimes(schedule: string, zone = 'UTC'): Next {
  if (schedule.startsWith('TZ=') || schedule.startsWith('CRON_TZ=')) {
    const space = schedule.indexOf(' ')
    return cronTimes(schedule.slice(space).trim(), schedule.slice(schedule.indexOf('=') + 1, space))
  }
  const text = descriptors.get(schedule.trim()) ?? schedule.trim()
  if (text.startsWith('@every ')) return every(text.slice('@every '.length))
  const [minute = '*', hour = '*', day = '*', month = '*', weekday = '*'] = text.split(/\s+/)
  return fieldTimes(
    {
      minutes: field(minute, 0, 59),
      hours: field(hour, 0, 23),
      days: field(day, 1, 31),
      months: field(month, 1, 12, MONTHS),
      weekdays: field(weekday, 0, 6, DAYS),
    },
    zone,
  )
}

function field(text: string, min: number, max: number, names: readonly string[] = []): Field {
  const values = new Set<number>()
  let isAny = false
  const number = (part: string): number => {
    const named = names.indexOf(part.toLowerCase()) // few: at most twelve names
    return named >= 0 ? named + min : Number(part)
  }
  for (const expression of text.split(',')) {
    const [range = '', step] = expression.split('/')
    const [low = '', high] = range.split('-')
    const all = low === '*' || low === '?'
    if (all && (step === undefined || step === '1')) isAny = true
    const first = all ? min : number(low)
    const last = all ? max : high === undefined ? (step === undefined ? first : max) : number(high)
    for (let value = first; value <= last; value += Math.max(1, Number(step ?? 1))) values.add(value)
  }
  return { values, isAny }
}

/** The interval of `@every`: whole seconds, at least one. */
function every(text: string): Next {
  const units = new Map([
    ['h', HOUR],
    ['m', MINUTE],
    ['s', 1000],
    ['ms', 1],
  ])
  let period = 0
  let [amount, unit] = ['', '']
  for (const character of `${text} `) {
    const isNumber = /[\d.]/.test(character)
    if (unit !== '' && (isNumber || character === ' ')) {
      period += Number(amount) * (units.get(unit) ?? 0)
      ;[amount, unit] = ['', '']
    }
    if (isNumber) amount += character
    else if (character !== '+') unit += character
  }
  const whole = Math.max(1000, Math.floor(period / 1000) * 1000)
  return (after) => Math.floor(after / 1000) * 1000 + whole
}

interface Fields {
  readonly minutes: Field
  readonly hours: Field
  readonly days: Field
  readonly months: Field
  readonly weekdays: Field
}

function fieldTimes({ minutes, hours, days, months, weekdays }: Fields, zone: string): Next {
  const offsetAt = offsetsOf(zone)
  const isDay = (date: Date): boolean => {
    const [byDay, byWeekday] = [days.values.has(date.getUTCDate()), weekdays.values.has(date.getUTCDay())]
    return days.isAny || weekdays.isAny ? byDay && byWeekday : byDay || byWeekday
  }
  // a local time, in fields of UTC
  const wallAt = (time: number): number => time + offsetAt(time)
  /** When the clock reaches a later local time; the end of the gap if it skips that time. */
  const whenReached = (wall: number, time: number): number => {
    const guess = time + wall - wallAt(time)
    const earlier = guess + wall - wallAt(guess)
    return earlier < guess && wallAt(earlier) < wall ? guess : earlier
  }
  return (after) => {
    let time = Math.floor(after / MINUTE) * MINUTE + MINUTE
    const end = time + NEVER_MS
    // Goes from time to time: a local hour that daylight saving time skips has no times, one that comes twice has both.
    while (time < end) {
      const wall = wallAt(time)
      const date = new Date(wall)
      if (!months.values.has(date.getUTCMonth() + 1))
        time = whenReached(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1), time)
      else if (!isDay(date)) time = whenReached(Math.floor(wall / DAY) * DAY + DAY, time)
      else if (!hours.values.has(date.getUTCHours())) time += HOUR - (wall % HOUR)
      else if (!minutes.values.has(date.getUTCMinutes())) time += MINUTE
      else return time
    }
    return undefined
  }
}

/** The offset of a time zone from UTC at a time, in milliseconds. */
function offsetsOf(zone: string): (time: number) => number {
  if (zone === '' || zone === 'UTC') return () => 0
  const offset = offsetOfZone(zone)
  return (time) => offset(Math.floor(time / 1000)) * 1000
}

export interface Due {
  /** The last time that is not in the future; undefined: none is due. */
  readonly time: number | undefined
  readonly isManyMissed: boolean
}

const MANY = 100

/** @param from only times after it count: earlier ones were handled or are too late */
export function mostRecent(next: Next, from: number, now: number): Due {
  const first = next(from)
  if (first === undefined || first > now) return { time: undefined, isManyMissed: false }
  const second = next(first)
  if (second === undefined || second > now) return { time: first, isManyMissed: false }
  const missed = Math.floor((now - first) / (second - first)) + 1
  let time: number | undefined
  // begins shortly before the last time, where the intervals are equal
  for (let at = next(first + (missed - 2) * (second - first)); at !== undefined && at <= now; at = next(at)) time = at
  return { time, isManyMissed: missed > MANY }
}
