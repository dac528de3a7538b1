import { beforeEach, expect, test, vi } from 'vitest'
import { auditReceived, auditAnswered } from '../../src/audit/audit.ts'
import { auditCounts } from '../../src/audit/metrics.ts'
import { forbidden, unauthorized } from '../../src/api/status.ts'
import { respondStatus } from '../../src/codec/respond.ts'
import type { Env } from '../../src/env.ts'
import { RequestRecord } from '../../src/request/record.ts'
import { settingsOf } from '../../src/settings.ts'
import { memoryServer } from '../request-in-memory.ts'

const policy = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [{ level: 'None', nonResourceURLs: ['/healthz'] }, { level: 'RequestResponse' }],
})

/**
 * A server whose audit backend answers with these status codes, repeating the last, and the events that it accepted.
 */
function audited(settings: Partial<Env>, ...codes: number[]) {
  const events: { stage: string; responseStatus?: object; responseObject?: { code: number }; sourceIPs?: string[] }[] =
    []
  let call = 0
  const log = {
    async fetch(_url: string, init: RequestInit) {
      const code = codes[Math.min(call++, codes.length - 1)]!
      // the audit backend sends text
      if (code === 204) for (const line of (init.body as string).trim().split('\n')) events.push(JSON.parse(line))
      return new Response(null, { status: code })
    },
  }
  const file = { AUDIT_LOG: log as unknown as Fetcher }
  const server = memoryServer({
    KEDGE_AUDIT_POLICY: policy,
    KEDGE_AUDIT_LOG_MODE: 'blocking-strict',
    ...file,
    ...settings,
  })
  const request = (target: string, init: Parameters<typeof server.request>[1] = {}) => {
    const record = new RequestRecord()
    return { request: { ...server.request(target, init), record }, record }
  }
  return { events, request }
}

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  auditCounts.rejected = 0
})

test('without a policy, and below verbosity 3, nothing of a request is recorded', () => {
  expect(settingsOf({}).recordsRequests).toBe(false)
  expect(settingsOf({ KEDGE_VERBOSITY: '2' }).recordsRequests).toBe(false)
  expect(settingsOf({ KEDGE_VERBOSITY: '3' }).recordsRequests).toBe(true)
  expect(settingsOf({ KEDGE_AUDIT_POLICY: policy }).recordsRequests).toBe(true)
})

test('blocking-strict: a request whose first event is lost is answered with 500, and has no other events', async () => {
  const { events, request: make } = audited({}, 500, 204)
  const { request, record } = make('/api/v1/pods?a=<b>')
  const refusal = await auditReceived(request, record)
  expect(refusal?.status).toBe(500)
  expect(await refusal?.text()).toBe('Internal Server Error: "/api/v1/pods?a=%3Cb%3E": failed to store audit event\n')
  await auditAnswered(request, record, refusal!)
  expect(events).toEqual([])
  expect(auditCounts.rejected).toBe(1)
})

test('blocking: it goes on', async () => {
  const { events, request: make } = audited({ KEDGE_AUDIT_LOG_MODE: 'blocking' }, 500, 204)
  const { request, record } = make('/api/v1/pods')
  expect(await auditReceived(request, record)).toBeUndefined()
  await auditAnswered(request, record, new Response('', { status: 200 }))
  expect(events.map(({ stage }) => stage)).toEqual(['ResponseComplete'])
})

test('a mistake of the server has the stage Panic', async () => {
  const { events, request: make } = audited({}, 204)
  const { request, record } = make('/api/v1/pods')
  await auditReceived(request, record)
  await auditAnswered(request, record, await respondStatus(request, new Error('assertion failed')))
  expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'Panic'])
  expect(events[1]!.responseStatus).toMatchObject({ status: 'Failure', reason: 'InternalError', code: 500 })
})

test('a request that no rule matches has no events', async () => {
  const { events, request: make } = audited({}, 204)
  const { request, record } = make('/healthz')
  await auditReceived(request, record)
  await auditAnswered(request, record, new Response('ok'))
  expect(events).toEqual([])
})

test('the words of an error about a secret are left out', async () => {
  const { events, request: make } = audited({}, 204)
  const { request, record } = make('/api/v1/namespaces/n/secrets', { method: 'POST' })
  await auditReceived(request, record)
  record.status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Invalid value: "hunter2"',
    reason: 'Invalid',
    details: { name: 's', causes: [{ message: 'Invalid value: "hunter2"' }] },
    code: 422,
  }
  await auditAnswered(request, record, new Response('', { status: 422 }))
  expect(events[1]!.responseStatus).toEqual({
    metadata: {},
    status: 'Failure',
    reason: 'Invalid',
    details: { name: 's' },
    code: 422,
  })
})

test.each<[seen: object, headers: Record<string, string>, addresses: string[] | undefined]>([
  [{}, {}, undefined],
  [{}, { 'CF-Connecting-IP': '192.0.2.1' }, ['192.0.2.1']],
  [{ clientAddress: '::1' }, { 'CF-Connecting-IP': '192.0.2.1' }, ['::1']],
  [{ clientAddress: '::1' }, { 'X-Forwarded-For': 'nonsense, 192.0.2.1' }, ['192.0.2.1', '::1']],
  [{ clientAddress: '::1' }, { 'X-Forwarded-For': '192.0.2.1, ::1' }, ['192.0.2.1', '::1']],
  [{ clientAddress: '::1' }, { 'X-Forwarded-For': '192.0.2.1', 'X-Real-Ip': '192.0.2.1' }, ['192.0.2.1', '::1']],
])('addresses: %j seen with %j', async (cf, headers, addresses) => {
  const { events, request: make } = audited({}, 204)
  const { request, record } = make('/version', { headers, cf })
  await auditReceived(request, record)
  expect(events[0]!.sourceIPs).toEqual(addresses)
})

test('a refused watch has its Status in both stages, and so has a request of nobody known', async () => {
  const { events, request: make } = audited({}, 204)
  const { request, record } = make('/api/v1/pods?watch=1')
  await auditReceived(request, record)
  const answered = await auditAnswered(
    request,
    record,
    await respondStatus(request, forbidden({ group: '', resource: 'pods' }, '', 'no')),
  )
  await answered.text()
  await vi.waitFor(() => expect(events).toHaveLength(3))
  const unknown = make('/api/v1/pods')
  await auditAnswered(unknown.request, unknown.record, await respondStatus(unknown.request, unauthorized()))
  expect(events.map(({ stage, responseObject }) => [stage, responseObject?.code])).toEqual([
    ['RequestReceived', undefined],
    ['ResponseStarted', 403],
    ['ResponseComplete', 403],
    ['ResponseStarted', 401],
  ])
})
