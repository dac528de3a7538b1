/** The accessors of timestamps and durations, such as `getHours()`. */
import type { FunctionDeclaration } from '../declarations.ts'
import { calendarIn } from '../values/times.ts'
import { DURATION, INT, STRING, TIMESTAMP } from '../checker/type.ts'
import type { Duration, Timestamp, Value } from '../values/value.ts'
import { CelError } from '../values/value.ts'
import { member } from './declare.ts'

/** Declares an accessor of a calendar field of a timestamp, in UTC or in a time zone. */
function calendarPart(
  name: string,
  id: string,
  part: (calendar: Date, time: Timestamp) => number,
  ofDuration?: { readonly id: string; of(nanos: bigint): bigint },
): FunctionDeclaration {
  const inZone = (time: Value, zone: string): Value => {
    const instant = time as Timestamp // the type is checked before the overload runs
    const calendar = calendarIn(instant, zone)
    return calendar instanceof CelError ? calendar : BigInt(part(calendar, instant))
  }
  return {
    name,
    overloads: [
      member(id, [TIMESTAMP], INT, { run: ([time]) => inZone(time!, 'UTC') }),
      member(`${id}_with_tz`, [TIMESTAMP, STRING], INT, { run: ([time, zone]) => inZone(time!, zone as string) }),
      ...(ofDuration === undefined
        ? []
        : [member(ofDuration.id, [DURATION], INT, { run: ([span]) => ofDuration.of((span as Duration).nanos) })]),
    ],
  }
}

const dayOfYear = (date: Date): number => {
  const first = new Date(0)
  first.setUTCFullYear(date.getUTCFullYear(), 0, 1)
  return Math.floor((date.getTime() - first.getTime()) / 86_400_000)
}

export const calendarFunctions: readonly FunctionDeclaration[] = [
  calendarPart('getFullYear', 'timestamp_to_year', (date) => date.getUTCFullYear()),
  calendarPart('getMonth', 'timestamp_to_month', (date) => date.getUTCMonth()),
  calendarPart('getDayOfYear', 'timestamp_to_day_of_year', dayOfYear),
  calendarPart('getDayOfMonth', 'timestamp_to_day_of_month', (date) => date.getUTCDate() - 1),
  calendarPart('getDate', 'timestamp_to_day_of_month_1_based', (date) => date.getUTCDate()),
  calendarPart('getDayOfWeek', 'timestamp_to_day_of_week', (date) => date.getUTCDay()),
  calendarPart('getHours', 'timestamp_to_hours', (date) => date.getUTCHours(), {
    id: 'duration_to_hours',
    of: (nanos) => nanos / 3_600_000_000_000n,
  }),
  calendarPart('getMinutes', 'timestamp_to_minutes', (date) => date.getUTCMinutes(), {
    id: 'duration_to_minutes',
    of: (nanos) => nanos / 60_000_000_000n,
  }),
  calendarPart('getSeconds', 'timestamp_to_seconds', (date) => date.getUTCSeconds(), {
    id: 'duration_to_seconds',
    of: (nanos) => nanos / 1_000_000_000n,
  }),
  calendarPart('getMilliseconds', 'timestamp_to_milliseconds', (_, { nanos }) => Math.floor(nanos / 1_000_000), {
    id: 'duration_to_milliseconds',
    of: (nanos) => nanos / 1_000_000n,
  }),
]
