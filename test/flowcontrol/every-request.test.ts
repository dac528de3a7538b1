// Every authenticated request takes a seat and releases it, whatever its path. A path without a seat would have no
// limit on concurrent requests.
import { beforeEach, expect, test, vi } from 'vitest'
import { privilegedPaths } from '../../src/authorization/privileged-paths.ts'
import { rootPaths } from '../../src/endpoints/documents/root-paths.ts'
import { flowState } from '../../src/flowcontrol/admit-request.ts'
import { builtInServed } from '../../src/registry/served/built-in-served.ts'
import { answer } from '../../src/server.ts'
import { CONTROL_SHARD } from '../../src/storage/collections.ts'
import { memoryServer } from '../request-in-memory.ts'
import type { MemoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'

const newServer = () => memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })

const shared = newServer()
const { gates, resources } = builtInServed(shared.env)

const targets: readonly string[] = [
  // one check of each health endpoint stands for all
  ...rootPaths(resources, gates).filter((path) => !/z\/(?!ping)/.test(path)),
  ...privilegedPaths,
  '/api/v1/configmaps',
  '/api/v1/configmaps?watch=true&timeoutSeconds=1',
  '/api/v1/watch/configmaps?timeoutSeconds=1',
  '/api/v1/namespaces/default/pods/a/exec',
  '/api/v1/namespaces/default/pods/a/log',
  '/api/v1/namespaces/default/services/a/proxy/x',
  '/api/v1/nodes/a/proxy/x',
  '/api/v1/nothing',
  '/apis/nothing.example.com/v1/nothing',
  '/debug/flags/v',
  '/debug/pprof/heap',
  '/nothing',
]

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {}) // the storage in memory has no watches
})

const dispatched = ({ tenant }: MemoryServer): number =>
  [...flowState(tenant).counts.values()].reduce((sum, count) => sum + count.dispatched, 0)

const taken = ({ tenant }: MemoryServer): number =>
  [...flowState(tenant).seats.all].reduce((sum, level) => sum + level.taken, 0)

async function send(server: MemoryServer, method: string, target: string, headers: Record<string, string>) {
  const request = server.request(target, { method, headers })
  // many requests fail, which does not matter here
  await answer(request).catch(() => {})
}

const who = { 'an administrator': { Authorization: `Bearer ${TOKEN}` }, 'somebody without a name': {} }

for (const [name, headers] of Object.entries(who))
  test.each(targets)(`%s takes a seat of ${name} and leaves it`, async (target) => {
    for (const method of ['GET', 'POST']) {
      const before = dispatched(shared)
      await send(shared, method, target, headers)
      expect([method, dispatched(shared) - before, taken(shared)]).toEqual([method, 1, 0])
    }
  })

test('also what restores a control plane that is being restored', async () => {
  const server = newServer()
  await server.storage.lock({ tenant: server.tenant.uid, shard: CONTROL_SHARD }, 1, undefined)
  await send(server, 'POST', '/restore', who['an administrator'])
  expect([dispatched(server), taken(server)]).toEqual([1, 0])
  await send(server, 'GET', '/api/v1/configmaps', who['an administrator'])
  expect(dispatched(server)).toBe(1)
})
