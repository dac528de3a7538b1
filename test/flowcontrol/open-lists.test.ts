// It needs modules of its own: the places are those of the isolate.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StatusError } from '../../src/api/status.ts'
import type { AnswerUse } from '../../src/codec/encode/answer-use.ts'
import { MOST_LISTS, MOST_OF_USER, takeListPlace } from '../../src/flowcontrol/open-lists.ts'
import { authenticated } from '../../src/request/user-info.ts'
import { memoryServer } from '../request-in-memory.ts'

const server = memoryServer()
let taken: AnswerUse[]
let refusals: unknown[]
let broken: string[]

beforeEach(() => {
  vi.useFakeTimers()
  taken = []
  refusals = []
  broken = []
})
afterEach(() => {
  for (const use of taken) use.ended()
  vi.useRealTimers()
})

function list(name: string): void {
  const asked = server.request('/api/v1/namespaces/default/configmaps')
  const place = takeListPlace({
    ...asked,
    user: authenticated({ name, groups: [] }),
  })
  const begun = (use: AnswerUse): void => {
    taken.push(use)
    use.onBroken(() => broken.push(name))
  }
  if (place instanceof Promise) place.then(begun, (error: unknown) => refusals.push(error))
  else begun(place)
}

const lists = (name: string, count: number): void => {
  for (let n = 0; n < count; n++) list(name)
}

test('one user has half of the places; further lists wait for those to end, and are told to come back', async () => {
  lists('greedy', MOST_OF_USER + 2)
  list('other')
  expect(taken.length).toBe(MOST_OF_USER + 1)
  taken[0]!.ended()
  await vi.advanceTimersByTimeAsync(200)
  expect(taken.length).toBe(MOST_OF_USER + 2)
  // they keep their seats, which others wait for
  await vi.advanceTimersByTimeAsync(900)
  expect(refusals.length).toBe(1)
  await vi.advanceTimersByTimeAsync(15_000)
  expect(taken.length).toBe(MOST_OF_USER + 2)
  expect(broken).toEqual([])
  const [refusal] = refusals as [StatusError]
  expect(refusals.length).toBe(1)
  expect(refusal.status).toMatchObject({ code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } })
})

test('where all are taken, the oldest list of the user with the most breaks off for another user', async () => {
  lists('a', MOST_OF_USER)
  lists('b', MOST_LISTS - MOST_OF_USER - 1)
  list('c')
  expect(taken.length).toBe(MOST_LISTS)
  list('c')
  await vi.advanceTimersByTimeAsync(900)
  expect({ taken: taken.length, broken }).toEqual({ taken: MOST_LISTS, broken: [] })
  await vi.advanceTimersByTimeAsync(200)
  expect({ taken: taken.length, broken }).toEqual({ taken: MOST_LISTS + 1, broken: ['a'] })
})

test('the place of a list that the engine has dropped gets free', async () => {
  lists('gone', MOST_OF_USER)
  vi.clearAllTimers() // those of its request
  await vi.advanceTimersByTimeAsync(21_000)
  list('gone')
  await vi.advanceTimersByTimeAsync(200)
  expect(taken.length).toBe(MOST_OF_USER + 1)
})
