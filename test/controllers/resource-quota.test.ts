import { describe, expect, test } from 'vitest'
import type { ResourceQuota } from '../../src/api/core/v1.ts'
import type { JsonObject } from '../../src/api/object.ts'
import { ControlPlaneInMemory } from './control-plane.ts'

const QUOTAS = { group: '', resource: 'resourcequotas' }
const SECRETS = { group: '', resource: 'secrets' }

const secret = (plane: ControlPlaneInMemory, name: string) =>
  plane.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' } })

async function planeWith(hard: Record<string, string>, ...secrets: string[]) {
  const plane = new ControlPlaneInMemory()
  for (const name of secrets) await secret(plane, name)
  await plane.create(QUOTAS, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q', namespace: 'default' },
    spec: { hard },
  } as unknown as JsonObject)
  await plane.settle()
  return plane
}

const statusIn = async (plane: ControlPlaneInMemory) =>
  ((await plane.get(QUOTAS, 'default', 'q')) as ResourceQuota | undefined)?.status

describe('the status of a quota', () => {
  test('says what is limited and used, of what can be counted', async () => {
    const plane = await planeWith({ secrets: '5', pods: '3', 'count/nothings.example.com': '1' }, 'a', 'b')
    expect(await statusIn(plane)).toEqual({
      hard: { secrets: '5', 'count/nothings.example.com': '1', pods: '3' },
      used: { secrets: '2', pods: '0' },
    })
  })

  test('falls a second after something went, when nothing was charged meanwhile', async () => {
    const plane = await planeWith({ secrets: '5' }, 'a', 'b')
    await plane.delete(SECRETS, 'default', 'a')
    await plane.settle()
    await plane.pass(300)
    expect((await statusIn(plane))?.used).toEqual({ secrets: '2' })
    await plane.pass(1000)
    expect((await statusIn(plane))?.used).toEqual({ secrets: '1' })
  })

  test('does not fall below what is being written', async () => {
    const plane = await planeWith({ secrets: '5' }, 'a')
    await plane.delete(SECRETS, 'default', 'a')
    await plane.settle()
    await plane.pass(300)
    // charged, and not written yet
    await (
      await plane.client(QUOTAS, 'default')
    ).updateWithRetries('q', (quota) => void (quota.metadata.labels = { charged: 'now' }))
    await plane.pass(1000)
    expect((await statusIn(plane))?.used).toEqual({ secrets: '1' })
    await secret(plane, 'b')
    await plane.pass(1000)
    expect((await statusIn(plane))?.used).toEqual({ secrets: '1' })
  })

  test('follows what the quota limits', async () => {
    const plane = await planeWith({ secrets: '5' }, 'a')
    await (
      await plane.client(QUOTAS, 'default')
    ).updateWithRetries('q', (quota) => {
      Object.assign(quota, { spec: { hard: { pods: '1' } } })
    })
    await plane.settle()
    expect(await statusIn(plane)).toEqual({ hard: { pods: '1' }, used: { pods: '0' } })
  })

  test('rests when there is nothing to do', async () => {
    const plane = await planeWith({ secrets: '5' }, 'a')
    await plane.pass(60_000)
    expect(plane.waiting).toEqual([])
  })
})

test('a control plane without quotas is not asked for any', async () => {
  const plane = new ControlPlaneInMemory()
  await secret(plane, 'a')
  await plane.delete(SECRETS, 'default', 'a')
  await plane.pass(2000)
  expect(plane.tried).not.toContain('resource-quota')
})
