import { expect, test } from 'vitest'
import { exchangeByFetch } from '../../src/outgoing/by-fetch.ts'
import type { ExchangeAnswer, ExchangeCall } from '../../src/outgoing/exchange.ts'

const asked: [url: string, init: RequestInit][] = []
const network = {
  fetch: async (url: string, init: RequestInit) => {
    asked.push([url, init])
    return new Response('answer', { status: 203, headers: { 'X-A': 'b' } })
  },
}
const exchange = exchangeByFetch(network, { WORKER_METRICS: network }, { unpinnedHosts: new Set(['known.example']) })
const call = (url: string, more: Partial<ExchangeCall> = {}) =>
  exchange({ method: 'GET', url, headers: [['X-Remote-User', 'jane']], ...more }, null)

test.each([
  ['https://metrics.worker/apis/a', {}],
  ['https://example.com/apis/a', {}],
  ['https://known.example/apis/a', { caBundle: 'PEM' }],
])('%s is asked', async (url, more) => {
  asked.length = 0
  const answer = await call(url, more)
  expect(answer).toMatchObject({
    status: 203,
    headers: [
      ['content-type', 'text/plain;charset=UTF-8'],
      ['x-a', 'b'],
    ],
  })
  expect(asked.map(([to, { method, redirect }]) => [to, method, redirect])).toEqual([[url, 'GET', 'manual']])
})

test.each<[string, Partial<ExchangeCall>, string]>([
  ['https://169.254.169.254/', {}, 'this server calls no link-local address: 169.254.169.254'],
  ['https://127.0.0.1/', {}, 'this server calls no loopback address: 127.0.0.1'],
  ['https://[::1]/', {}, 'this server calls no loopback address: [::1]'],
  ['https://none.worker/', {}, 'no Worker is bound to this server as WORKER_NONE'],
  ['https://example.com/', { caBundle: 'PEM' }, 'this server can only verify certificates of public authorities'],
  ['https://example.com/', { isInsecure: true }, 'this server cannot call without verifying certificates'],
  ['https://example.com/a/../b', {}, 'this server passes on no path with dots for names'],
  ['https://example.com/a/%2e%2E/b', {}, 'this server passes on no path with dots for names'],
  ['https://example.com/', { headers: [['X-Remote-Group', 'a, system:masters']] }, 'cannot pass on X-Remote-Group'],
  ['https://example.com/', { headers: [['X-Remote-Group', ' a']] }, 'cannot pass on X-Remote-Group'],
  ['https://example.com/', { headers: [['X-Remote-Group', '']] }, 'cannot pass on X-Remote-Group'],
  ['https://example.com/', { headers: [['X-Remote-User', 'jürgen']] }, 'cannot pass on X-Remote-User'],
  [
    'https://example.com/',
    { upgrades: true, headers: [['Upgrade', 'SPDY/3.1']] },
    'this server passes on no protocol but WebSocket: SPDY/3.1',
  ],
])('%s is not', async (url, more, why) => {
  asked.length = 0
  await expect(call(url, more)).rejects.toThrow(why)
  expect(asked).toEqual([])
})

test('an answer that stops is broken off in its time', async () => {
  let given: unknown
  const stopping = {
    fetch: async () =>
      new Response(
        new ReadableStream({
          start: (to) => to.enqueue(new TextEncoder().encode('so far')),
          cancel: (reason) => void (given = reason),
        }),
      ),
  }
  const ask = exchangeByFetch(stopping, {}, { unpinnedHosts: new Set() })
  const answer = await ask({ method: 'GET', url: 'https://example.com/', headers: [], timeoutMs: 30 }, null)
  await expect(new Response((answer as ExchangeAnswer).body).text()).rejects.toThrow(/timeout/)
  expect(String(given)).toContain('TimeoutError')
})
