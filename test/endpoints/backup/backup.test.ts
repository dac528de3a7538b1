// A backup has all that was written before it was asked for, whatever the clock says.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Env } from '../../../src/env.ts'
import { answer } from '../../../src/server.ts'
import { freshControlSnapshot } from '../../../src/tenancy/control-snapshot.ts'
import type { MemoryServer } from '../../request-in-memory.ts'
import { memoryServer } from '../../request-in-memory.ts'

const TOKEN = 't'.repeat(32)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.stubGlobal('IdentityTransformStream', TransformStream) // of the engine
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

async function linesOf(server: MemoryServer): Promise<{ metadata?: { name?: string }; revision?: number }[]> {
  server.now = new Date()
  const response = await answer(server.request('/backup', { headers: { Authorization: `Bearer ${TOKEN}` } }))
  return (await response.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { metadata?: { name?: string }; revision?: number })
}

const configMap = (name: string) => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' },
})

test.each([
  ['a minute', 60_000],
  ['an hour', 3_600_000],
])('a clock that was set back by %s', async (_, milliseconds) => {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN } as Partial<Env>)
  await freshControlSnapshot(server)
  vi.setSystemTime(Date.now() + milliseconds)
  await server.put('', 'configmaps', configMap('a'))
  vi.setSystemTime(Date.now() - milliseconds)
  const lines = await linesOf(server)
  expect(lines.map(({ metadata }) => metadata?.name)).toContain('a')
  await server.put('', 'configmaps', configMap('b'))
  expect(lines.at(-1)).toMatchObject({ end: true })
  // what came later is above the cut
  const b = await server.storage.list(
    { tenant: server.tenant.uid, shard: 'configmaps', prefix: 'configmaps' },
    { selection: { labels: [], fields: [] }, at: { kind: 'latest' } },
  )
  expect(b.revision).toBeGreaterThan(lines[0]!.revision!)
})
