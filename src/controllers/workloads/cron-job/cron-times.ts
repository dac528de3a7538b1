/** The times of a CronJob's schedule, which was validated when it was stored. */
import { offsetOfZone } from '../../../base/time-zone.ts'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A schedule without a time in so many years, such as the 30th of February, never has one. */
const YEARS = 5

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

/** One field of a schedule, as `fieldTimes` goes through them. */
interface Level {
  fits(wall: Date): boolean
  /** The first time with the value of this field; absent: as `next` has it anyway. */
  begin?(wall: Date): number
  next(time: number): number
  /** Whether `next` came to a new value of the field above. */
  isFirst(wall: Date): boolean
}

/**
 * Goes through the fields from the month to the second as the cron library of kube-controller-manager does, so that both
 * take the same times where the clocks change: most hours that are skipped have no times, and those that come twice have
 * both. Days are counted in local time, hours and less in real time.
 */
function fieldTimes({ minutes, hours, days, months, weekdays }: Fields, zone: string): Next {
  const offsetAt = offsetsOf(zone)
  // a local time, in fields of UTC
  const wallAt = (time: number): Date => new Date(time + offsetAt(time))
  const isDay = (wall: Date): boolean => {
    const [byDay, byWeekday] = [days.values.has(wall.getUTCDate()), weekdays.values.has(wall.getUTCDay())]
    return days.isAny || weekdays.isAny ? byDay && byWeekday : byDay || byWeekday
  }
  /** A local time as Go's time.Date reads it. One that is skipped is read with the offset before or after the gap. */
  const timeOf = (wall: number): number => {
    const guess = offsetAt(wall)
    return guess === 0 ? wall : wall - offsetAt(wall - guess)
  }
  const levels: readonly Level[] = [
    {
      fits: (wall) => months.values.has(wall.getUTCMonth() + 1),
      begin: (wall) => timeOf(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth(), 1)),
      next: (time) => timeOf(wallAt(time).setUTCMonth(wallAt(time).getUTCMonth() + 1)),
      isFirst: (wall) => wall.getUTCMonth() === 0,
    },
    {
      fits: isDay,
      begin: (wall) => timeOf(wall.getTime() - (wall.getTime() % DAY)),
      next: (time) => {
        const day = timeOf(wallAt(time).getTime() + DAY)
        const hour = wallAt(day).getUTCHours()
        // a midnight that is skipped
        return day + (hour > 12 ? 24 - hour : -hour) * HOUR
      },
      isFirst: (wall) => wall.getUTCDate() === 1,
    },
    {
      fits: (wall) => hours.values.has(wall.getUTCHours()),
      begin: (wall) => timeOf(wall.getTime() - (wall.getTime() % HOUR)),
      next: (time) => time + HOUR,
      isFirst: (wall) => wall.getUTCHours() === 0,
    },
    {
      fits: (wall) => minutes.values.has(wall.getUTCMinutes()),
      next: (time) => time - (time % MINUTE) + MINUTE,
      isFirst: (wall) => wall.getUTCMinutes() === 0,
    },
    {
      fits: (wall) => wall.getUTCSeconds() === 0,
      next: (time) => time - (time % MINUTE) + MINUTE,
      isFirst: () => true,
    },
  ]
  return (after) => {
    let time = Math.floor(after / 1000) * 1000 + 1000
    let hasBegun = false
    /** @returns whether all fields fit, without a new value of a field above */
    const fitsAll = (): boolean =>
      levels.every(({ fits, begin, next, isFirst }) => {
        while (!fits(wallAt(time))) {
          if (!hasBegun) time = begin?.(wallAt(time)) ?? time
          hasBegun = true
          const later = next(time)
          // a zone may skip a whole day: then the next day is read as the one before
          time = later > time ? later : time + HOUR
          if (isFirst(wallAt(time))) return false
        }
        return true
      })
    const lastYear = wallAt(time).getUTCFullYear() + YEARS
    while (wallAt(time).getUTCFullYear() <= lastYear) if (fitsAll()) return time
    return undefined
  }
}

/** The offset of a time zone from UTC at a time, in milliseconds. */
function offsetsOf(zone: string): (time: number) => number {
  if (zone === '' || zone === 'UTC') return () => 0
  const offset = offsetOfZone(zone)
  // each step asks for the same time a few times, and asking the runtime takes long
  let [known, last] = [NaN, 0]
  return (time) => {
    if (time !== known) [known, last] = [time, offset(Math.floor(time / 1000)) * 1000]
    return last
  }
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
