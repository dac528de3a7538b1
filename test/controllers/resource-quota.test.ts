import { describe, expect, test } from 'vitest'
import type { ResourceQuota } from '../../src/api/core/v1.ts'
import type { JsonObject } from '../../src/api/object.ts'
import { ControlPlaneInMemory } from './control-plane.ts'
import { named } from '../../src/controllers/client/resource-client.ts'

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
    ).updateWithRetries(named('q'), (quota) => void (quota.metadata.labels = { charged: 'now' }))
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
    ).updateWithRetries(named('q'), (quota) => {
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

const PODS = { group: '', resource: 'pods' }

const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    nodeName: 'n',
    containers: [
      {
        name: 'c',
        image: 'i',
        resources: { requests: { cpu: '2' } },
      },
    ],
  },
})

describe('a pod gives back what it used', () => {
  async function planeWithPod() {
    const plane = await planeWith({ pods: '5', 'requests.cpu': '8', 'count/pods': '5' })
    await plane.create(PODS, pod('p') as unknown as JsonObject)
    // admission charges it in a server
    await (
      await plane.client(QUOTAS, 'default')
    ).updateStatusWithRetries(named('q'), (quota) => {
      const { hard } = (quota as unknown as { status: object & { hard: object } }).status
      Object.assign(quota, { status: { hard, used: { pods: '1', 'requests.cpu': '2', 'count/pods': '1' } } })
    })
    await plane.settle()
    return plane
  }
  const changed = async (plane: ControlPlaneInMemory, status: object) => {
    await (
      await plane.client(PODS, 'default')
    ).updateStatusWithRetries(named('p'), (one) => void Object.assign(one, { status }))
    await plane.settle()
  }
  const after = async (plane: ControlPlaneInMemory) => {
    await plane.pass(1100)
    return (await statusIn(plane))?.used
  }

  test.each(['Succeeded', 'Failed'])('when it has %s: all but its place in storage', async (phase) => {
    const plane = await planeWithPod()
    await changed(plane, { phase })
    expect(await after(plane)).toEqual({ 'count/pods': '1', pods: '0', 'requests.cpu': '0' })
  })

  test('and nothing before: other changes of its status are no work', async () => {
    const plane = await planeWithPod()
    await plane.pass(200_000)
    plane.tried.length = 0
    await changed(plane, { phase: 'Running', podIP: '10.0.0.1' })
    await plane.pass(1100)
    expect(plane.tried).not.toContain('resource-quota')
  })

  test('when its grace is over, although its kubelet does not say that it is gone', async () => {
    const plane = await planeWithPod()
    await plane.delete(PODS, 'default', 'p', { gracePeriodSeconds: 30 })
    await plane.settle()
    expect(await after(plane)).toMatchObject({ pods: '1', 'requests.cpu': '2' })
    await plane.pass(70_000)
    expect(await after(plane)).toEqual({ 'count/pods': '1', pods: '0', 'requests.cpu': '0' })
    await plane.pass(120_000)
    expect(plane.waiting).toEqual([])
  })

  test('when its node gave it less, as it asked for', async () => {
    const plane = await planeWithPod()
    const given = (cpu: string) => ({
      containerStatuses: [{ name: 'c', resources: { requests: { cpu } }, allocatedResources: { cpu } }],
    })
    await changed(plane, given('3'))
    await plane.pass(120_000)
    expect(await after(plane)).toMatchObject({ 'requests.cpu': '3' })
    await changed(plane, given('2'))
    expect(await after(plane)).toMatchObject({ 'requests.cpu': '2' })
  })
})

test('a Lease that goes is given back, which no owner is looked for of', async () => {
  const plane = await planeWith({ 'count/leases.coordination.k8s.io': '5' })
  const leases = { group: 'coordination.k8s.io', resource: 'leases' }
  const metadata = { name: 'l', namespace: 'default' }
  await plane.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata } as unknown as JsonObject)
  await charged(plane, { 'count/leases.coordination.k8s.io': '1' })
  await plane.delete(leases, 'default', 'l')
  await plane.settle()
  await plane.pass(1100)
  expect((await statusIn(plane))?.used).toEqual({ 'count/leases.coordination.k8s.io': '0' })
})

/** As admission does it before a write. */
async function charged(plane: ControlPlaneInMemory, used: Record<string, string>) {
  await (
    await plane.client(QUOTAS, 'default')
  ).updateStatusWithRetries(named('q'), (quota) => {
    const { status } = quota as unknown as ResourceQuota
    Object.assign(quota, { status: { ...status, used } })
  })
  await plane.settle()
}

describe('a charge without a write', () => {
  const periods = 180_000

  test('of a server that ended between the two is found and given back', async () => {
    const plane = await planeWith({ secrets: '5' }, 'a')
    await plane.pass(periods)
    await charged(plane, { secrets: '2' })
    expect((await statusIn(plane))?.used).toEqual({ secrets: '2' })
    await plane.pass(periods)
    await plane.pass(1100)
    expect((await statusIn(plane))?.used).toEqual({ secrets: '1' })
    await plane.pass(periods)
    expect(plane.waiting).toEqual([])
  })

  test('that a client wrote is no more than what is there', async () => {
    const plane = await planeWith({ secrets: '5' }, 'a', 'b')
    await plane.pass(periods)
    await charged(plane, { secrets: '0' })
    await plane.pass(periods)
    expect((await statusIn(plane))?.used).toEqual({ secrets: '2' })
  })
})

test('a control plane without quotas is not asked for any', async () => {
  const plane = new ControlPlaneInMemory()
  await secret(plane, 'a')
  await plane.delete(SECRETS, 'default', 'a')
  await plane.pass(2000)
  expect(plane.tried).not.toContain('resource-quota')
})
