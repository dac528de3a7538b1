// Nothing happens while nothing happens, and work that ends anywhere comes to the same end.
import { expect, test } from 'vitest'
import type { Deployment } from '../../src/api/apps/v1.ts'
import type { Node, Pod } from '../../src/api/core/v1.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { ControlPlaneInMemory } from './control-plane.ts'
import { named } from '../../src/controllers/client/resource-client.ts'

const PODS = { group: '', resource: 'pods' }
const DEPLOYMENTS = { group: 'apps', resource: 'deployments' }
const REPLICA_SETS = { group: 'apps', resource: 'replicasets' }
const NODES = { group: '', resource: 'nodes' }

async function addNode(plane: ControlPlaneInMemory, name: string): Promise<void> {
  const metadata = { name, labels: { 'kedge.dev/simulated': 'true' } }
  await plane.create(NODES, { kind: 'Node', apiVersion: 'v1', metadata })
}

async function addPod(plane: ControlPlaneInMemory, name: string, more: object = {}): Promise<void> {
  const spec = { containers: [{ name: 'c', image: 'i' }], ...more }
  const metadata = { name, namespace: 'default' }
  await plane.create(PODS, { kind: 'Pod', apiVersion: 'v1', metadata, spec } as never)
}

test('a cluster that is at rest waits for nothing, and does nothing in a day', async () => {
  const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  for (let index = 0; index < 10; index++) await addNode(plane, `n-${index}`)
  for (let index = 0; index < 50; index++) await addPod(plane, `p-${index}`)
  await plane.settle()
  const versions = async () => (await plane.all(PODS)).map(({ metadata }) => metadata.resourceVersion)
  const before = await versions()
  expect([before.length, plane.waiting]).toEqual([50, []])
  const tried = plane.tried.length
  plane.asked.clear()
  await plane.pass(24 * 3_600_000)
  expect([plane.tried.length, [...plane.asked]]).toEqual([tried, []])
  expect(await versions()).toEqual(before)
})

async function deployed(): Promise<ControlPlaneInMemory> {
  const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  await addNode(plane, 'left')
  await addNode(plane, 'right')
  const labels = { app: 'web' }
  await plane.create(DEPLOYMENTS, {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  })
  await plane.settle()
  const nodes = await plane.client(NODES, '')
  await nodes.updateWithRetries(named('left'), (node: KubeObject & Node) => {
    node.spec = { ...node.spec, taints: [{ key: 'bad', effect: 'NoExecute' }] }
  })
  return plane
}

async function endState(plane: ControlPlaneInMemory): Promise<object> {
  const pods = (await plane.all(PODS)) as (KubeObject & Pod)[]
  const [web] = (await (await plane.client(DEPLOYMENTS, 'default')).list()) as (KubeObject & Deployment)[]
  const { replicas, readyReplicas, availableReplicas, updatedReplicas } = web?.status ?? {}
  return {
    pods: pods.map(({ spec, status }) => `${status?.phase} on ${spec?.nodeName}`).toSorted(),
    status: { replicas, readyReplicas, availableReplicas, updatedReplicas },
    sets: (await plane.names(REPLICA_SETS)).length,
  }
}

/** Lets the object end at its nth call to a shard. @returns how many calls there were */
async function settleUntil(plane: ControlPlaneInMemory, nth: number): Promise<number> {
  const { SHARDS } = plane.server.env
  const { get } = SHARDS
  let calls = 0
  SHARDS.get = (id) => {
    if (calls++ >= nth) throw new Error('the object ends')
    return get(id)
  }
  await plane.settle().catch(() => {})
  SHARDS.get = get
  return calls
}

test('pods that are evicted come to the same end wherever the work ends between', { timeout: 120_000 }, async () => {
  const whole = await deployed()
  expect(await settleUntil(whole, Infinity)).toBeGreaterThan(30)
  const expected = await endState(whole)
  expect(expected).toMatchObject({ pods: ['Running on right', 'Running on right'], sets: 1 })
  const others: number[] = []
  // what is known from before saves a call or two, so each run tells whether it was ended
  for (let nth = 0, isEnded = true; isEnded; nth += 3) {
    const plane = await deployed()
    isEnded = (await settleUntil(plane, nth)) > nth
    await plane.settle()
    if (JSON.stringify(await endState(plane)) !== JSON.stringify(expected)) others.push(nth)
  }
  expect(others).toEqual([])
})
