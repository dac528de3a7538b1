import { describe, expect, it } from 'vitest'
import { scheduleProblem } from '../../src/validation/cron-schedule.ts'

const problems: readonly (readonly [schedule: string, problem: string | undefined])[] = [
  ['* * * * *', undefined],
  ['*/5 0-12/2 1,15 jan-MAR mon', undefined],
  ['@hourly', undefined],
  ['@every 1h30m', undefined],
  ['TZ=Asia/Tokyo 0 0 * * *', undefined],
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['@never', 'unrecognized descriptor: @never'],
]

describe('schedules of CronJobs', () => {
  it.each(problems)('%s', (schedule, problem) => expect(scheduleProblem(schedule)).toBe(problem))
})
