// Expected answers are recorded from kube-apiserver 1.36.3: the answer any user gets, and the timeouts that it ignores.
import { platformClock } from '../../src/base/clock.ts'
import { describe, expect, test } from 'vitest'
import type { Env } from '../../src/env.ts'
import { receive } from '../../src/request/receive.ts'
import { checkTimeout } from '../../src/request/timeout.ts'
import { serve } from '../../src/server.ts'

const execution = { waitUntil: () => {} } as unknown as ExecutionContext
// the code under test never reaches storage
const env = {} as Env

function requestOf(target: string, method = 'GET', headers: Record<string, string> = {}): Request {
  const carried = /^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)$/.test(method)
  const request = new Request('http://localhost/', { method: carried ? method : 'POST', headers })
  return Object.defineProperties(request, {
    url: { value: `http://localhost${target}` }, // not normalized, as in workerd
    cf: { value: carried ? undefined : { method } },
  })
}

async function check(target: string, method = 'GET'): Promise<void> {
  const received = await receive(requestOf(target, method), env, execution, platformClock, () => true)
  if (received instanceof Response) throw new Error(await received.text())
  checkTimeout(received)
}

describe('which durations there are', () => {
  test.each([
    ['abc', 'time: invalid duration "abc"'],
    ['5', 'time: missing unit in duration "5"'],
    ['1x', 'time: unknown unit "x" in duration "1x"'],
    ['%205s', 'time: invalid duration " 5s"'],
    ['5&timeout=1s', 'time: missing unit in duration "5"'],
  ])('timeout=%s is refused', async (text, message) => {
    const expected = { code: 400, reason: 'BadRequest' }
    const refused = check(`/api/v1/pods?timeout=${text}`)
    await expect(refused).rejects.toMatchObject({ status: expected })
    await expect(refused).rejects.toThrow(`invalid timeout specified in the request URL - ${message}`)
  })

  test.each(['', '0', '0s', '-1s', '61s', '1h', '1m30s', '1s&timeout=abc'])('timeout=%s is served', async (text) => {
    await check(`/api/v1/pods?timeout=${text}`)
  })
})

describe('which requests have a timeout', () => {
  test.each([
    ['GET', '/api/v1/pods', true],
    ['GET', '/api/v1/pods?watch=false', true],
    ['GET', '/api/v1/pods?watch=1', false],
    ['GET', '/api/v1/pods?watch=', false],
    ['GET', '/api/v1/pods?watch=1&fieldSelector=metadata.name%3Dx', false],
    ['GET', '/api/v1/pods?watch=1&limit=x', false],
    ['HEAD', '/api/v1/pods?watch=1', false],
    ['POST', '/api/v1/namespaces/default/pods?watch=1', true],
    ['FOO', '/api/v1/pods?watch=1', true],
    ['OPTIONS', '/api/v1/pods', true],
    ['GET', '/api/v1/namespaces/default?watch=1', true],
    ['GET', '/api/v1/watch/pods', false],
    ['GET', '/apis/none.example.com/v1/watch/bars', false],
    ['GET', '/api/v1/proxy/x', false],
    ['GET', '/api/v1/namespaces/default/pods/a/log', false],
    ['GET', '/api/v1/namespaces/default/pods/a/exec', false],
    ['GET', '/api/v1/namespaces/default/pods/a/status', true],
    ['GET', '/apis/none.example.com/v1/bars/a/log', false],
    ['GET', '/apis/none.example.com/v1/bars', true],
    ['GET', '/nothing', true],
    ['GET', '/healthz/ping', true],
    ['GET', '/debug/pprof/', false],
    ['GET', '/debug/pprof/nothing', false],
    ['GET', '/debug/shards', true],
  ])('%s %s: %s', async (method, target, counts) => {
    const checked = check(`${target}${target.includes('?') ? '&' : '?'}timeout=abc`, method)
    if (counts) await expect(checked).rejects.toThrow('invalid timeout')
    else await checked
  })
})

describe('the check comes before authentication', () => {
  test.each<[what: string, target: string, headers: Record<string, string>]>([
    ['nobody', '/api/v1/pods?timeout=abc', {}],
    ['a token that is none', '/api/v1/pods?timeout=abc', { Authorization: 'Bearer nonsense' }],
    ['somebody else without a name', '/api/v1/pods?timeout=abc', { 'Impersonate-Uid': '1' }],
    ['a path that is not there', '/nothing?timeout=abc', {}],
  ])('%s', async (_, target, headers) => {
    const response = await serve(
      requestOf(target, 'GET', { ...headers, 'Audit-Id': 'mine' }),
      env,
      execution,
      platformClock,
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ reason: 'BadRequest', code: 400 })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'audit-id': 'mine',
      'cache-control': 'no-cache, private',
      'content-type': 'application/json',
    })
    expect(response.headers.get('X-Kubernetes-Pf-Flowschema-Uid')).toBeNull()
    expect(response.headers.get('X-Content-Type-Options')).toBeNull()
  })

  test.each([
    ['/api/v1/watch?timeout=abc', '"/api/v1/watch?timeout=abc"', '/api/v1/watch?timeout=abc'],
    ['/api/v1/%77atch', '"/api/v1/%77atch"', '/api/v1/%77atch'],
    [
      '/apis/apps/v1/proxy?a=1&b=<x>"',
      '"/apis/apps/v1/proxy?a=1&amp;b=&lt;x&gt;\\""',
      '/apis/apps/v1/proxy?a=1&amp;b=&lt;x&gt;"',
    ],
  ])('%s names no resource', async (target, quoted, url) => {
    const headers = { Authorization: 'Bearer nonsense', 'Audit-Id': 'mine' }
    const response = await serve(requestOf(target, 'GET', headers), env, execution, platformClock)
    expect([response.status, response.headers.get('Audit-Id')]).toEqual([500, 'mine'])
    const why = 'failed to create RequestInfo: unable to determine kind and namespace from url'
    expect(await response.text()).toBe(`Internal Server Error: ${quoted}: ${why}, ${url}\n`)
  })
})
