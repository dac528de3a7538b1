// A kube-controller-manager or kube-scheduler that takes its Lease makes ours step back.
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Lease } from '../../../src/api/coordination/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'
import { named, ResourceClient } from '../../../src/controllers/client/resource-client.ts'
import { StatusError } from '../../../src/api/status.ts'

const LEASES = { group: 'coordination.k8s.io', resource: 'leases' }
const DEPLOYMENTS = { group: 'apps', resource: 'deployments' }
const REPLICA_SETS = { group: 'apps', resource: 'replicasets' }
const PODS = { group: '', resource: 'pods' }
const NODES = { group: '', resource: 'nodes' }

let plane: ControlPlaneInMemory
beforeEach(async () => {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  const metadata = { name: 'n', labels: { 'kedge.dev/simulated': 'true' } }
  await plane.create(NODES, { kind: 'Node', apiVersion: 'v1', metadata })
  await plane.settle()
})

const take = (name: string, holderIdentity = 'other', namespace = 'kube-system') =>
  plane.create(LEASES, {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { name, namespace },
    spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: `${plane.now.toISOString().slice(0, -1)}000Z` },
  })

async function change(name: string, edit: (spec: Record<string, unknown>) => void): Promise<void> {
  const leases = await plane.client(LEASES, 'kube-system')
  await leases.updateWithRetries(named(name), (lease) =>
    edit((lease as unknown as { spec: Record<string, unknown> }).spec),
  )
  await plane.settle()
}

async function deploy(): Promise<void> {
  const labels = { app: 'web' }
  await plane.create(DEPLOYMENTS, {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  })
  await plane.settle()
}

const pods = async () =>
  (await (await plane.client(PODS, 'default')).list()).map(
    (pod) => (pod as KubeObject & { spec: { nodeName?: string } }).spec.nodeName ?? 'nowhere',
  )

describe('while a kube-controller-manager leads', () => {
  test('its controllers rest, and go on when it gives up', async () => {
    await take('kube-controller-manager')
    await plane.settle()
    await deploy()
    expect(await plane.names(REPLICA_SETS)).toEqual([])
    await change('kube-controller-manager', (spec) => (spec['holderIdentity'] = ''))
    expect(await pods()).toEqual(['n'])
  })

  test('simulated nodes renew Leases of their own, and rest when it gives up', async () => {
    const nodeLease = async () => (await (await plane.client(LEASES, 'kube-node-lease')).get('n')) as Lease | undefined
    await plane.pass(60_000)
    expect(await nodeLease()).toBeUndefined()
    await take('kube-controller-manager')
    await plane.settle()
    const first = (await nodeLease())?.spec
    expect(first).toMatchObject({ holderIdentity: 'n', leaseDurationSeconds: 40 })
    await plane.pass(10_000)
    await change('kube-controller-manager', (spec) => (spec['renewTime'] = '2026-01-01T00:00:10.000000Z'))
    await plane.pass(10_000)
    const second = (await nodeLease())?.spec
    expect(Date.parse(second?.renewTime ?? '') - Date.parse(first?.renewTime ?? '')).toBeGreaterThanOrEqual(15_000)
    await change('kube-controller-manager', (spec) => (spec['holderIdentity'] = ''))
    await plane.pass(60_000)
    expect((await nodeLease())?.spec).toEqual(second)
  })

  test('a Lease that a webhook refuses is tried again at the next renewal, and fails nothing', async () => {
    const leases = await plane.client(LEASES, 'kube-node-lease')
    await take('kube-controller-manager')
    vi.spyOn(ResourceClient.prototype, 'create').mockRejectedValueOnce(new StatusError(500, undefined, 'refused'))
    await plane.settle()
    expect(await leases.get('n')).toBeUndefined()
    const manager = (spec: Record<string, unknown>) =>
      (spec['renewTime'] = `${plane.now.toISOString().slice(0, -1)}000Z`)
    await plane.pass(10_000)
    await change('kube-controller-manager', manager)
    await plane.pass(6_000)
    expect(await leases.get('n')).toBeDefined()
  })

  test('its Lease ends when it is not renewed for its duration, and then once only', async () => {
    await take('kube-controller-manager')
    await plane.settle()
    await deploy()
    await plane.pass(10_000)
    await change('kube-controller-manager', (spec) => (spec['renewTime'] = '2026-01-01T00:00:10.000000Z'))
    await plane.pass(14_000)
    expect(await plane.names(REPLICA_SETS)).toEqual([])
    await plane.pass(1_000)
    expect(await pods()).toEqual(['n'])
    plane.add('leader-lease', 'kube-controller-manager', 0)
    plane.add('workloads-begin', '', 0)
    await plane.settle()
    expect(plane.waiting.filter((work) => work.startsWith('leader-lease'))).toEqual([])
  })

  test('a Lease that is deleted is given up', async () => {
    await take('kube-controller-manager')
    await plane.settle()
    await deploy()
    await plane.delete(LEASES, 'kube-system', 'kube-controller-manager')
    await plane.settle()
    expect(await pods()).toEqual(['n'])
  })

  test('the scheduler and the nodes go on', async () => {
    await take('kube-controller-manager')
    await plane.settle()
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    await plane.create(PODS, { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'default' }, spec })
    await plane.settle()
    expect(await plane.get(PODS, 'default', 'p')).toMatchObject({ status: { phase: 'Running' } })
  })
})

test('while a kube-scheduler leads pods wait for it, and nothing is written', async () => {
  await take('kube-scheduler')
  await plane.settle()
  await deploy()
  expect(await pods()).toEqual(['nowhere'])
  await plane.pass(15_000)
  expect(await pods()).toEqual(['n'])
})

test('a leader is not disturbed when workloads are switched on', async () => {
  Object.assign(plane.server, { env: { ...plane.server.env, KEDGE_WORKLOADS: 'off' } })
  await take('kube-controller-manager')
  await deploy()
  Object.assign(plane.server, { env: { ...plane.server.env, KEDGE_WORKLOADS: 'controllers' } })
  plane.add('workloads-begin', '', 0)
  await plane.settle()
  expect(await plane.names(REPLICA_SETS)).toEqual([])
  await plane.pass(15_000)
  expect(await plane.names(REPLICA_SETS)).toHaveLength(1)
})

test.each([
  ['a Lease of another namespace', 'kube-controller-manager', 'other', 'default'],
  ['a Lease of another name', 'my-controller', 'other', 'kube-system'],
  ['a Lease without a holder', 'kube-controller-manager', '', 'kube-system'],
])('%s leads nothing', async (_, name, holder, namespace) => {
  if (holder !== '') await take(name, holder, namespace)
  else
    await plane.create(LEASES, {
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      metadata: { name, namespace },
      spec: { leaseDurationSeconds: 15 },
    })
  await plane.settle()
  await deploy()
  expect(await pods()).toEqual(['n'])
})

test('a controller that is switched off leaves its work alone', async () => {
  Object.assign(plane.server, { env: { ...plane.server.env, KEDGE_CONTROLLERS: '*,-replicaset-controller' } })
  await deploy()
  expect([await plane.names(REPLICA_SETS), await pods()]).toEqual([[expect.stringMatching(/^web-/)], []])
  expect(plane.tried.filter((name) => name === 'replica-set')).toEqual([])
})
