import { expect, test } from 'vitest'
import { parseQuery } from '../../src/request/query-parameters.ts'
import type { RequestInfo } from '../../src/request/request-info.ts'
import type { Env } from '../../src/env.ts'
import { timeLeft } from '../../src/request/time-left.ts'

const info = (verb: string): RequestInfo =>
  ({ verb, isResourceRequest: true, subresource: '', path: '/' }) as RequestInfo
const began = new Date('2026-01-01T00:00:00Z')

test.each<[text: string, verb: string, most: number | undefined, left: number]>([
  ['', 'create', undefined, 60_000],
  ['', 'create', 34_000, 34_000],
  ['timeout=10s', 'create', 34_000, 10_000],
  ['timeout=1500ms', 'get', undefined, 1_500],
  ['timeout=1ms', 'get', undefined, 1],
  // no limit of the client's, and one beyond the server's
  ['timeout=0s', 'create', 34_000, 34_000],
  ['timeout=-1s', 'create', 34_000, 34_000],
  ['timeout=10m', 'create', 34_000, 34_000],
  ['timeout=10m', 'create', Infinity, 60_000],
  // long-running requests have no such parameter
  ['timeout=1s', 'watch', undefined, 60_000],
])('a request with %j and the verb %s, of which the server allows %s ms, has %i ms', (text, verb, most, left) => {
  const call = {
    env: {} as Env,
    now: began,
    clock: () => began.getTime(),
    info: info(verb),
    query: parseQuery(text === '' ? '' : `?${text}`),
  }
  expect(timeLeft(call, most)).toBe(left)
  expect(timeLeft({ ...call, clock: () => began.getTime() + left + 1 }, most)).toBe(-1)
})

test('a call of a controller has the limit of the server', () => {
  expect(timeLeft({ env: {} as Env, now: began, clock: () => began.getTime() + 1_000 }, 34_000)).toBe(33_000)
})
