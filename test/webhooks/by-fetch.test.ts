/** Webhook calls by fetch on Cloudflare: requests that are refused before they are sent, and the requests sent. */
import { describe, expect, test } from 'vitest'
import { byFetch } from '../../src/webhooks/by-fetch.ts'
import type { OutgoingCall } from '../../src/webhooks/outgoing-call.ts'
import { MAX_ANSWER } from '../../src/webhooks/outgoing-call.ts'

const answering = (make: (url: string, init: RequestInit) => Response) => {
  const sent: { url: string; init: RequestInit }[] = []
  return {
    sent,
    async fetch(url: string, init: RequestInit) {
      sent.push({ url, init })
      return make(url, init)
    },
  }
}
const ok = () => new Response('{}', { headers: { 'Content-Type': 'application/json' } })
const call = (url: string, more: Partial<OutgoingCall> = {}): OutgoingCall => ({
  url,
  headers: { Accept: 'x' },
  timeoutMs: 1000,
  ...more,
})
const none = { unpinnedHosts: new Set<string>() }

async function refusal(url: string, more: Partial<OutgoingCall> = {}, bindings = {}): Promise<string> {
  const network = answering(ok)
  const refused = await Promise.resolve()
    .then(() => byFetch(network, bindings, none)(call(url, more), ''))
    .then(
      () => '',
      (error: Error) => error.message,
    )
  expect(network.sent.length).toBe(refused === '' ? 1 : 0)
  return refused
}

test.each([
  ['https://hook.example.com/', ''],
  ['https://10.0.0.1/', ''],
  ['https://127.0.0.1:8443/', 'this server calls no loopback address: 127.0.0.1'],
  ['https://0x7f.1/', 'this server calls no loopback address: 127.0.0.1'],
  ['https://2130706433/', 'this server calls no loopback address: 127.0.0.1'],
  ['https://[::1]/', 'this server calls no loopback address: [::1]'],
  ['https://[::ffff:127.0.0.1]/', 'this server calls no loopback address: [::ffff:7f00:1]'],
  ['https://[64:ff9b::a9fe:a9fe]/', 'this server calls no translated address: [64:ff9b::a9fe:a9fe]'],
  ...['::7f00:1', '::ffff:0:7f00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::', '2001:0:7f00:1::'].map(
    (host): [string, string] => [`https://[${host}]/`, `this server calls no translated address: [${host}]`],
  ),
  ['https://[fec0::1]/', 'this server calls no link-local address: [fec0::1]'],
  ['https://0.0.0.0/', 'this server calls no address of this host: 0.0.0.0'],
  ['https://169.254.169.254/latest/meta-data', 'this server calls no link-local address: 169.254.169.254'],
  ['https://[fe80::1]/', 'this server calls no link-local address: [fe80::1]'],
  ['https://[fd00:ec2::254]/', 'this server calls no metadata server: [fd00:ec2::254]'],
  ['https://100.100.100.200/', 'this server calls no metadata server: 100.100.100.200'],
  ['https://LOCALHOST./', 'this server calls no loopback address: localhost.'],
  ['https://a.localhost/', 'this server calls no loopback address: a.localhost'],
  ['https://metadata.google.internal/', 'this server calls no metadata server: metadata.google.internal'],
  ['https://policies.worker/', 'no Worker is bound to this server as WORKER_POLICIES'],
])('%s: %s', async (url, why) => {
  expect(await refusal(url)).toBe(why)
})

describe('a caBundle', () => {
  test('cannot be honoured, and is not ignored', async () => {
    expect(await refusal('https://hook.example.com/', { caBundle: 'PEM' })).toContain(
      'KEDGE_UNPINNED_HOSTS may name hook.example.com',
    )
  })

  test('is ignored for a host of which the operator says so', async () => {
    const network = answering(ok)
    const post = byFetch(network, {}, { unpinnedHosts: new Set(['hook.example.com']) })
    expect(await post(call('https://hook.example.com/', { caBundle: 'PEM' }), '')).toMatchObject({ status: 200 })
  })
})

test('a bound Worker is called at no network', async () => {
  const [network, worker] = [answering(ok), answering(ok)]
  const post = byFetch(network, { WORKER_MY_POLICIES: worker }, none)
  expect(await post(call('https://my-policies.worker/check', { caBundle: 'PEM' }), 'body')).toMatchObject({
    status: 200,
  })
  expect([network.sent.length, worker.sent.length]).toEqual([0, 1])
})

test.each(['WORKER_TEXT', 'constructor'])('%s is no bound Worker', async (name) => {
  const host = name.replace('WORKER_', '').toLowerCase()
  expect(await refusal(`https://${host}.worker/`, {}, { WORKER_TEXT: 'text' })).toMatch(/^no Worker is bound/)
})

describe('the request that is sent', () => {
  test('follows no redirect', async () => {
    const network = answering(() => new Response(null, { status: 307, headers: { Location: 'https://127.0.0.1/' } }))
    const answer = await byFetch(network, {}, none)(call('https://hook.example.com/p?timeout=1s'), 'body')
    expect(answer).toMatchObject({ status: 307, contentType: '' })
    expect(network.sent[0]).toMatchObject({
      url: 'https://hook.example.com/p?timeout=1s',
      init: { method: 'POST', body: 'body', redirect: 'manual', headers: { Accept: 'x' } },
    })
  })

  test('is answered with so much and no more', async () => {
    let pulled = 0
    const endless = new ReadableStream({ pull: (to) => void to.enqueue(new Uint8Array(1 << 20).fill(++pulled)) })
    const post = byFetch(
      answering(() => new Response(endless)),
      {},
      none,
    )
    await expect(post(call('https://hook.example.com/'), '')).rejects.toThrow(
      `the answer is longer than ${MAX_ANSWER} bytes`,
    )
    expect(pulled).toBeLessThan(8)
  })
})
