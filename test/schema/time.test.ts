import { describe, expect, test } from 'vitest'
import {
  formatDuration,
  formatMicroTime,
  formatTime,
  isZeroTime,
  parseDuration,
  parseMicroTime,
  parseTime,
} from '../../src/schema/time.ts'

const TIME = '"2006-01-02T15:04:05Z07:00"'
const MICRO = '"2006-01-02T15:04:05.000000Z07:00"'

describe('times', () => {
  test.each([
    ['2001-06-01T00:00:00Z', '2001-06-01T00:00:00Z'],
    ['2001-06-01T00:00:00.123456789Z', '2001-06-01T00:00:00Z'],
    ['2001-06-01T02:00:00+02:00', '2001-06-01T00:00:00Z'],
    ['2001-06-01T00:00:00,5Z', '2001-06-01T00:00:00Z'],
    ['2001-06-01T1:02:03Z', '2001-06-01T01:02:03Z'],
    ['1969-12-31T23:59:59Z', '1969-12-31T23:59:59Z'],
    ['0099-01-01T00:00:00Z', '0099-01-01T00:00:00Z'],
  ])('%s is %s', (text, written) => {
    expect(formatTime(parseTime(text))).toBe(written)
  })

  test.each([
    ['', `as ${TIME}: cannot parse "" as "2006"`],
    ['2001-06-01T00:00:00', `as ${TIME}: cannot parse "" as "Z07:00"`],
    ['2001-06-01t00:00:00z', `as ${TIME}: cannot parse "t00:00:00z" as "T"`],
    ['2001-13-01T00:00:00Z', 'month out of range'],
    ['2001-02-30T00:00:00Z', 'day out of range'],
    ['2001-06-01T24:00:00Z', 'hour out of range'],
    ['2001-06-01T00:00:60Z', 'second out of range'],
    ['10000-01-01T00:00:00Z', `as ${TIME}: cannot parse "0-01-01T00:00:00Z" as "-"`],
    ['2001-06-01T00:00:00Zx', 'extra text: "x"'],
    ['x"é', `as ${TIME}: cannot parse "x\\"\\xc3\\xa9" as "2006"`],
  ])('%j is refused', (text, message) => {
    expect(() => parseTime(text)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^parsing time ".*":? /), name: 'TimeError' }),
    )
    expect(() => parseTime(text)).toThrow(message)
  })

  test('the zero time is recognised', () => {
    expect(isZeroTime(parseTime('0001-01-01T00:00:00Z'))).toBe(true)
    expect(isZeroTime(parseTime('1970-01-01T00:00:00Z'))).toBe(false)
  })
})

describe('times with microseconds', () => {
  test('have six digits', () => {
    expect(formatMicroTime(parseMicroTime('2001-06-01T02:00:00.000123+02:00'))).toBe('2001-06-01T00:00:00.000123Z')
  })

  test.each([
    ['2001-06-01T00:00:00Z', `as ${MICRO}: cannot parse "Z" as ".000000"`],
    ['2001-06-01T00:00:00.1Z', `as ${MICRO}: cannot parse ".1Z" as ".000000"`],
    ['2001-06-01T00:00:00.123456789Z', `as ${MICRO}: cannot parse "789Z" as "Z07:00"`],
    ['2001-06-01T00:00:00', `as ${MICRO}: cannot parse "" as ".000000"`],
    ['2001-02-30T00:00:00Z', `as ${MICRO}: cannot parse "Z" as ".000000"`],
  ])('%s is refused', (text, message) => {
    expect(() => parseMicroTime(text)).toThrow(message)
  })
})

describe('durations', () => {
  test.each([
    ['0', '0s'],
    ['1h', '1h0m0s'],
    ['90m', '1h30m0s'],
    ['1.5s', '1.5s'],
    ['1h2m3.5s', '1h2m3.5s'],
    ['-1500ms', '-1.5s'],
    ['1500us', '1.5ms'],
    ['10ns', '10ns'],
  ])('%s is %s', (text, written) => {
    expect(formatDuration(parseDuration(text))).toBe(written)
  })

  test.each([
    ['', 'time: invalid duration ""'],
    ['x', 'time: invalid duration "x"'],
    ['5', 'time: missing unit in duration "5"'],
    ['5x', 'time: unknown unit "x" in duration "5x"'],
    ['9999999h', 'time: invalid duration "9999999h"'],
  ])('%j is refused', (text, message) => {
    expect(() => parseDuration(text)).toThrow(message)
  })
})
