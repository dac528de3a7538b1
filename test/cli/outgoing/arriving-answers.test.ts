/** The answers of other servers that are here have a bound together, which ends the longest. */
import { expect, test } from 'vitest'
import { ArrivingAnswer, ArrivingAnswers, MOST_ARRIVING } from '../../../src/cli/outgoing/arriving-answers.ts'

function answers(count: number) {
  const all = new ArrivingAnswers()
  const ended: number[] = []
  const each = Array.from({ length: count }, (_, index) => new ArrivingAnswer(all, () => void ended.push(index)))
  return { all, ended, each }
}

test('answers that are too long together end the call with the longest', () => {
  const { all, ended, each } = answers(3)
  each[0]!.holds(MOST_ARRIVING / 2)
  each[1]!.holds(MOST_ARRIVING / 4)
  each[2]!.holds(MOST_ARRIVING / 4)
  expect(ended).toEqual([])
  each[2]!.holds(MOST_ARRIVING / 4 + 1)
  expect(ended).toEqual([0])
  expect(all.octets).toBe(MOST_ARRIVING / 2 + 1)
  // what still arrives of one that was ended does not count
  each[0]!.holds(MOST_ARRIVING)
  expect(ended).toEqual([0])
})

test('an answer that the engine has makes room', () => {
  const { all, ended, each } = answers(2)
  each[0]!.holds(MOST_ARRIVING)
  each[0]!.leave()
  each[1]!.holds(MOST_ARRIVING)
  expect(ended).toEqual([])
  each[1]!.leave()
  expect(all.octets).toBe(0)
})
