import { expect, test } from 'vitest'
import { cronTimes } from '../../../../src/controllers/workloads/cron-job/cron-times.ts'

// Each line was computed by the cron library of kube-controller-manager.
test.each([
  ['30 2 * * *', 'America/New_York', '2024-03-09T00:00', '2024-03-09T07:30 2024-03-11T06:30 2024-03-12T06:30'],
  [
    '30 1 * * *',
    'America/New_York',
    '2024-11-02T00:00',
    '2024-11-02T05:30 2024-11-03T05:30 2024-11-03T06:30 2024-11-04T06:30',
  ],
  [
    '0 * * * *',
    'Europe/Berlin',
    '2024-10-26T22:30',
    '2024-10-26T23:00 2024-10-27T00:00 2024-10-27T01:00 2024-10-27T02:00',
  ],
  [
    '*/30 * * * *',
    'Europe/Berlin',
    '2024-03-31T00:20',
    '2024-03-31T00:30 2024-03-31T01:00 2024-03-31T01:30 2024-03-31T02:00',
  ],
  ['0 0 * * *', 'America/Havana', '2024-03-08T12:00', '2024-03-09T05:00 2024-03-11T04:00 2024-03-12T04:00'],
  ['0 0 * * *', 'Asia/Beirut', '2022-03-25T12:00', '2022-03-25T22:00 2022-03-27T21:00 2022-03-28T21:00'],
  ['0 2 * * *', 'Australia/Lord_Howe', '2017-04-01T00:00', '2017-04-02T15:30 2017-04-03T15:30 2017-04-04T15:30'],
  ['0 0 * * *', 'Australia/Lord_Howe', '2017-04-01T00:00', '2017-04-01T13:00 2017-04-03T13:30 2017-04-04T13:30'],
  [
    '*/7 1-3 * * *',
    'Australia/Lord_Howe',
    '2017-09-30T15:00',
    '2017-09-30T15:05 2017-09-30T15:12 2017-09-30T15:19 2017-09-30T15:26 2017-09-30T15:35 2017-09-30T15:42',
  ],
  ['45 2 29 3 *', 'Atlantic/Azores', '2020-03-27T00:00', '2020-03-29T02:45 2021-03-29T02:45 2022-03-29T02:45'],
  ['30 1 * * 0', 'Asia/Tehran', '2021-03-18T00:00', '2021-03-20T22:00 2021-03-21T21:00 2021-03-27T21:00'],
  ['0 0 1 11 *', 'America/Asuncion', '2018-10-05T00:00', '2018-11-01T03:00 2019-11-01T03:00 2020-11-01T03:00'],
])('%s in %s', (schedule, zone, from, expected) => {
  const next = cronTimes(schedule, zone)
  let time = Date.parse(`${from}Z`)
  const times = expected.split(' ').map(() => new Date((time = next(time)!)).toISOString().slice(0, 16))
  expect(times.join(' ')).toBe(expected)
})

test('a day that a zone skips holds nothing up', () => {
  const next = cronTimes('0 0 * * 0', 'Pacific/Apia')
  expect(new Date(next(Date.parse('2011-12-27T00:00Z'))!).toISOString()).toMatch(/^2011-12-31|^2012-01-0/)
})

test('a schedule without a day has no time', () => {
  expect(cronTimes('0 0 31 2 *', 'Europe/Berlin')(Date.parse('2024-01-01T00:00Z'))).toBeUndefined()
})
