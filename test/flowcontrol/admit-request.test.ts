import { expect, test } from 'vitest'
import { RequestRecord } from '../../src/request/record.ts'
import type { UserInfo } from '../../src/request/user-info.ts'
import { authenticated } from '../../src/request/user-info.ts'
import { serveMetrics } from '../../src/endpoints/metrics/metrics.ts'
import { admitRequest, endsBySelf, leaveSeat } from '../../src/flowcontrol/admit-request.ts'
import { attributesOf } from '../../src/authorization/attributes.ts'
import { classify } from '../../src/flowcontrol/classify.ts'
import type { Seat } from '../../src/flowcontrol/seats.ts'
import { controlSnapshot } from '../../src/tenancy/control-snapshot.ts'
import type { JsonObject } from '../../src/api/object.ts'
import type { MemoryServer } from '../request-in-memory.ts'
import { memoryServer } from '../request-in-memory.ts'

const GROUP = 'flowcontrol.apiserver.k8s.io'
const admin = authenticated({ name: 'root', groups: ['system:masters'] })

/** A priority level with one seat for alice's requests. */
async function small(limitResponse: JsonObject) {
  const server = memoryServer({ KEDGE_MAX_REQUESTS_INFLIGHT: '1', KEDGE_MAX_MUTATING_REQUESTS_INFLIGHT: '1' })
  await server.put(GROUP, 'prioritylevelconfigurations', {
    metadata: { name: 'small' },
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, borrowingLimitPercent: 0, limitResponse } },
  })
  await server.put(GROUP, 'flowschemas', {
    metadata: { name: 'alice' },
    spec: {
      priorityLevelConfiguration: { name: 'small' },
      matchingPrecedence: 5,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'alice' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
        },
      ],
    },
  })
  return server
}

async function ask(server: MemoryServer, target: string, user = authenticated({ name: 'alice', groups: [] })) {
  const request = { ...server.request(target), user }
  const snapshot = await controlSnapshot(server)
  return {
    admitted: admitRequest(request, snapshot, classify(snapshot, attributesOf(user, request.info, request.query))),
  }
}

const metrics = async (server: MemoryServer, name: string) =>
  (await (await serveMetrics(server.request('/metrics'), { slis: false })).text())
    .split('\n')
    .filter((line) => line.startsWith(name) && line.includes('small'))

test('a second request at once is refused; one after the first is served', async () => {
  const server = await small({ type: 'Reject' })
  const first = (await ask(server, '/api/v1/pods')).admitted as Seat
  expect(first.level.name).toBe('small')
  expect((await ask(server, '/api/v1/pods')).admitted).toBe('concurrency-limit')
  leaveSeat(server.tenant, first)
  expect((await ask(server, '/api/v1/pods')).admitted).toMatchObject({ level: { name: 'small' } })
})

test('exempt requests are served beside them', async () => {
  const server = await small({ type: 'Reject' })
  await ask(server, '/api/v1/pods')
  expect((await ask(server, '/api/v1/pods', admin)).admitted).toMatchObject({ level: { name: 'exempt' } })
})

test.each(['/api/v1/pods?watch=true', '/api/v1/namespaces/a/pods/b/log', '/api/v1/namespaces/a/pods/b/exec'])(
  'what takes long needs a seat until it begins: %s',
  async (target) => {
    const server = await small({ type: 'Reject' })
    await ask(server, '/api/v1/pods')
    expect((await ask(server, target)).admitted).toBe('concurrency-limit')
  },
)

test('a read goes on without its client where seats are scarce, until it leaves its seat', async () => {
  const server = await small({ type: 'Reject' })
  const kept: Promise<unknown>[] = []
  const snapshot = await controlSnapshot(server)
  const admitted = (user: UserInfo) => {
    const request = {
      ...server.request('/api/v1/pods'),
      user,
      waitUntil: (work: Promise<unknown>) => void kept.push(work),
    }
    return admitRequest(request, snapshot, classify(snapshot, attributesOf(user, request.info, request.query))) as Seat
  }
  admitted(admin)
  expect(kept).toEqual([])
  const seat = admitted(authenticated({ name: 'alice', groups: [] }))
  expect(kept).toHaveLength(1)
  leaveSeat(server.tenant, seat)
  await expect(kept[0]).resolves.toBeUndefined()
})

test('a get or list may be given up', () => {
  const server = memoryServer()
  const target = '/api/v1/pods'
  expect(endsBySelf(server.request(target))).toBe(false)
  expect(endsBySelf(server.request(target, { method: 'POST' }))).toBe(true)
  expect(endsBySelf({ ...server.request(target), record: new RequestRecord() })).toBe(true)
})

test.each(['/api/v1/pods?watch=1', '/api/v1/watch/pods', '/api/v1/proxy/pods/a', '/healthz', '/apis', '/openapi/v2'])(
  'a read of %s goes on to its end: it is counted while it lasts, or makes what others wait for',
  (target) => expect(endsBySelf(memoryServer().request(target))).toBe(true),
)

test('in a level with a queue it waits, as long as the request may take at most', async () => {
  const server = await small({ type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } })
  const first = (await ask(server, '/api/v1/pods')).admitted as Seat
  const second = (await ask(server, '/api/v1/pods')).admitted
  expect((await ask(server, '/api/v1/pods')).admitted).toBe('queue-full')
  expect(await metrics(server, 'apiserver_flowcontrol_current_inqueue_requests')).toEqual([
    'apiserver_flowcontrol_current_inqueue_requests{priority_level="small"} 1',
  ])
  leaveSeat(server.tenant, first)
  leaveSeat(server.tenant, (await second) as Seat)
  await ask(server, '/api/v1/pods')
  expect(await (await ask(server, '/api/v1/pods?timeout=10ms')).admitted).toBe('time-out')
  expect(await metrics(server, 'apiserver_flowcontrol_rejected_requests_total')).toEqual([
    'apiserver_flowcontrol_rejected_requests_total{flow_schema="alice",priority_level="small",reason="queue-full"} 1',
    'apiserver_flowcontrol_rejected_requests_total{flow_schema="alice",priority_level="small",reason="time-out"} 1',
  ])
  expect(await metrics(server, 'apiserver_flowcontrol_dispatched_requests_total')).toEqual([
    'apiserver_flowcontrol_dispatched_requests_total{flow_schema="alice",priority_level="small"} 3',
  ])
  const waits = await metrics(server, 'apiserver_flowcontrol_request_wait_duration_seconds_count')
  expect(waits).toEqual([
    'apiserver_flowcontrol_request_wait_duration_seconds_count{execute="true",flow_schema="alice",priority_level="small"} 3',
    'apiserver_flowcontrol_request_wait_duration_seconds_count{execute="false",flow_schema="alice",priority_level="small"} 2',
  ])
})
