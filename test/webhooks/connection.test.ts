/** Reviews posted to another server: which failures are retried, how often, and for how long. */
import { expect, test } from 'vitest'
import type { Env } from '../../src/env.ts'
import { postReview } from '../../src/webhooks/connection.ts'
import { webhookConnection } from '../../src/webhooks/webhook-connection.ts'
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

const CREDENTIALS = { token: 'secret', certificateAuthority: 'PEM', clientCertificate: 'PEM', clientKey: 'PEM' }

/** The call that the front is asked to make. */
async function callTo(url: string): Promise<Record<string, unknown>> {
  const calls: Record<string, unknown>[] = []
  const fetch = async (_url: string, init: RequestInit) => {
    calls.push(JSON.parse(String(init.body).split('\n')[0]!) as Record<string, unknown>)
    return answer(200)
  }
  // the code under test uses nothing else of it
  const env = { OUTGOING: { fetch } } as unknown as Env
  await postReview(env, { url, ...CREDENTIALS }, {}, { timeoutMs: 1, timeout: '1s', clock: () => 0 })
  return calls[0]!
}

test('a server of this machine that is called without TLS gets no credentials', async () => {
  const call = await callTo('http://127.0.0.1:8080/authorize')
  expect(call).toMatchObject({ url: 'http://127.0.0.1:8080/authorize?timeout=1s', isPlain: true })
  for (const name of ['caBundle', 'clientCertificate']) expect(call).not.toHaveProperty(name)
  expect(call['headers']).not.toHaveProperty('Authorization')
})

test('one that is called with TLS does', async () => {
  const call = await callTo('https://127.0.0.1:8080/authorize')
  expect(call).toMatchObject({ caBundle: 'PEM', headers: { Authorization: 'Bearer secret' } })
  expect(call).not.toHaveProperty('isPlain')
})

test.each([
  ['https://authorizer.example.com/', true],
  ['http://localhost:8080', true],
  ['http://127.0.0.2/', true],
  ['http://[::1]:8080/', true],
  ['http://authorizer.example.com/', false],
  ['http://10.0.0.1/', false],
  ['http://127.0.0.1.example.com/', false],
  ['http://[::ffff:127.0.0.1]/', true],
  ['unix:///var/run/a.sock', false],
  ['127.0.0.1:8080', false],
])('%s may be called: %s', (url, may) => {
  expect(webhookConnection.safeParse({ url }).success).toBe(may)
})
