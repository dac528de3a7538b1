import { expect, test } from 'vitest'
import { EventCorrelator } from '../../../../src/controllers/workloads/events/event-correlator.ts'

const tell = (correlator: EventCorrelator, messages: readonly string[], now = 0, source = 'set') =>
  messages.map((message) => correlator.admit(source, 'Normal SuccessfulCreate', message, now)?.message)

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `Created pod: ${n}`)

test('news that are alike become one after the tenth, and end after the twenty-fifth', () => {
  const told = tell(new EventCorrelator(), numbered(30))
  expect(told.slice(0, 10)).toEqual(numbered(10))
  expect(told.slice(10, 25)).toEqual(
    numbered(25)
      .slice(10)
      .map((message) => `(combined from similar events): ${message}`),
  )
  expect(told.slice(25)).toEqual(Array(5).fill(undefined))
})

test('those that are combined are one Event', () => {
  const correlator = new EventCorrelator()
  const identities = numbered(14).map((message) => correlator.admit('set', 'Normal A', message, 0)?.identity)
  expect(new Set(identities).size).toBe(11)
})

test('the same news again is no other one', () => {
  expect(tell(new EventCorrelator(), Array<string>(12).fill('again'))).toEqual(Array(12).fill('again'))
})

test.each([
  [1, 299_999, undefined],
  [1, 300_000, 'late'],
])('after %i times five minutes one more is told', (_, now, expected) => {
  const correlator = new EventCorrelator()
  tell(correlator, Array<string>(25).fill('again'))
  expect(correlator.admit('set', 'Warning Other', 'late', now)?.message).toBe(expected)
})

test('others have news of their own', () => {
  const correlator = new EventCorrelator()
  tell(correlator, numbered(30))
  expect(tell(correlator, ['first'], 0, 'other')).toEqual(['first'])
})

test('ten minutes later news stand for themselves again', () => {
  const correlator = new EventCorrelator()
  tell(correlator, numbered(12))
  expect(tell(correlator, ['late'], 600_001)).toEqual(['late'])
})
