// A token that was good in this isolate a moment ago, and whose control plane another isolate has restored since.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { loadPatterns } from '../../src/validation/go-pattern.ts'
import { answer } from '../../src/server.ts'
import type { MemoryServer } from '../request-in-memory.ts'
import { memoryServer } from '../request-in-memory.ts'

const ADMINISTRATOR = 'an-administrator-whose-token-is-long-enough'
const secretOf = (groups: string) => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
  type: 'bootstrap.kubernetes.io/token',
  data: Object.fromEntries(
    Object.entries({
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': 'true',
      'auth-extra-groups': groups,
    }).map(([name, value]) => [name, btoa(value)]),
  ),
})

const statusOf = async (server: MemoryServer): Promise<number> => {
  const request = server.request('/api', { headers: { Authorization: 'Bearer abcdef.0123456789abcdef' } })
  return (await answer(request).catch((error: { code: number }) => new Response(null, { status: error.code }))).status
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() }))
afterEach(() => void vi.useRealTimers())

test.each([
  ['its account is gone', undefined],
  ['its account is another one', 'system:bootstrappers:b'],
])('%s', async (_, groups) => {
  await loadPatterns()
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: ADMINISTRATOR })
  await server.put('', 'secrets', secretOf('system:bootstrappers:a') as never)
  expect(await statusOf(server)).toBe(200)
  await restoreElsewhere(server)
  if (groups !== undefined) await server.put('', 'secrets', secretOf(groups) as never)
  vi.setSystemTime(Date.now() + 3_000)
  server.now = new Date()
  expect(await statusOf(server)).toBe(401)
})

/** Changes each shard as a restore of an empty backup does. */
async function restoreElsewhere({ storage, tenant }: MemoryServer): Promise<void> {
  for (const shard of ['control', 'secrets']) {
    const name = { tenant: tenant.uid, shard }
    await storage.lock(name, 1)
    await storage.clear(name, 1)
    await storage.unlock(name, 1, await storage.revision({ ...name, prefix: '' }))
  }
}
