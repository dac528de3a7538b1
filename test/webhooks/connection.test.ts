/** Reviews posted to another server: which failures are retried, how often, and for how long. */
import { expect, test } from 'vitest'
import type { Env } from '../../src/env.ts'
import { postReview } from '../../src/webhooks/connection.ts'
import type { CallFailure } from '../../src/webhooks/failure-text.ts'
import { FAILED, RETRY_HEADER, STATUS_HEADER } from '../../src/webhooks/by-front.ts'

/** @param tookMs the duration of each call */
async function posted(answers: readonly (Response | CallFailure)[], tookMs = 0) {
  const pauses: number[] = []
  const timeouts: number[] = []
  let now = 0
  const fetch = async (_url: string, init: RequestInit) => {
    timeouts.push((JSON.parse(String(init.body).split('\n')[0]!) as { timeoutMs: number }).timeoutMs)
    now += tookMs
    const answer = answers[Math.min(timeouts.length, answers.length) - 1]!
    return answer instanceof Response ? answer.clone() : Response.json(answer, { status: FAILED })
  }
  // the code under test uses nothing else of it
  const env = { OUTGOING: { fetch } } as unknown as Env
  const said = await postReview(
    env,
    { url: 'https://a.example/' },
    {},
    {
      timeoutMs: 30_000,
      timeout: '30s',
      clock: () => now,
      pause: async (milliseconds) => {
        now += milliseconds
        pauses.push(milliseconds)
      },
    },
  ).then(
    ({ status }) => status,
    (error: Error) => error.message,
  )
  return { said, pauses, timeouts }
}

const answer = (status: number, retryAfter = '') =>
  new Response('', { headers: { [STATUS_HEADER]: String(status), [RETRY_HEADER]: retryAfter } })
const PAUSES = [500, 750, 1_125, 1_688]

test.each<[string, readonly (Response | CallFailure)[], number | string, readonly number[]]>([
  ['200', [answer(200)], 200, []],
  ['500 for ever', [answer(500)], 500, PAUSES],
  ['429, then 200', [answer(429), answer(200)], 200, [500]],
  ['504 twice, then 200', [answer(504), answer(504), answer(200)], 200, [500, 750]],
  ['503', [answer(503)], 503, []],
  ['503 that says when to come back', [answer(503, '1'), answer(200)], 200, [500]],
  ['403', [answer(403)], 403, []],
  [
    'nobody there',
    [{ code: 'ECONNREFUSED', message: '', address: '10.0.0.1:443' }],
    'Post "https://a.example/?timeout=30s": dial tcp 10.0.0.1:443: connect: connection refused',
    [],
  ],
  ['a connection that breaks, then 200', [{ code: 'ECONNRESET', message: 'read' }, answer(200)], 200, [500]],
])('%s', async (_, answers, said, pauses) => {
  expect(await posted(answers)).toMatchObject({ said, pauses })
})

test('all calls of a question take 34 seconds at most', async () => {
  const { timeouts, pauses } = await posted([answer(500)], 12_000)
  expect(timeouts).toEqual([30_000, 21_500, 8_750])
  expect(pauses).toHaveLength(2)
})
