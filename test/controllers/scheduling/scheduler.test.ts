import { beforeEach, expect, test } from 'vitest'
import type { Pod } from '../../../src/api/core/v1.ts'
import type { Clientset } from '../../../src/controllers/clientset.ts'
import { clientsetFor } from '../../../src/controllers/clientset.ts'
import { NODES } from '../../../src/controllers/simulation/simulated-node.ts'
import { PODS } from '../../../src/controllers/workloads/pod-control.ts'
import { ControlPlaneInMemory, EVENTS } from '../control-plane.ts'

let plane: ControlPlaneInMemory
let clients: Clientset

beforeEach(async () => {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  clients = clientsetFor(await plane.context(), 'somebody')
  await addNode('node-1')
})

async function addNode(name: string): Promise<void> {
  await clients
    .resource(NODES)
    .create({ kind: 'Node', apiVersion: 'v1', metadata: { name, labels: { 'kedge.dev/simulated': 'true' } } })
  await plane.settle()
}

async function create(name: string, spec: Pod['spec'] = {}): Promise<void> {
  await clients.resource(PODS, 'default').create({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default' },
    spec: {
      serviceAccountName: 'default',
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '5' } } }],
      ...spec,
    },
  })
  await plane.settle()
}

const pod = (name: string) => clients.resource(PODS, 'default').get(name)
const nodeOf = async (name: string) => (await pod(name))?.spec?.nodeName
const reasons = async () =>
  (await clients.resource({ ...EVENTS }, 'default').list()).map((event) => (event as { reason?: string }).reason)

test('what fits nowhere says so once, and goes to a node that comes later', async () => {
  await create('first')
  await create('second')
  expect([await nodeOf('first'), await nodeOf('second')]).toEqual(['node-1', undefined])
  expect((await pod('second'))?.status?.conditions).toMatchObject([
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
  ])
  await create('third')
  expect((await reasons()).sort()).toEqual(['FailedScheduling', 'FailedScheduling', 'Scheduled'])
  expect(plane.waiting).toEqual([])
  await addNode('node-2')
  expect([await nodeOf('second'), await nodeOf('third')]).toEqual(['node-2', undefined])
})

test('the room of a pod that goes is given to one that waits', async () => {
  await create('first')
  await create('second')
  await clients.resource(PODS, 'default').delete('first')
  await plane.settle()
  expect(await nodeOf('second')).toBe('node-1')
})

test('gated pods, and those of other schedulers, are left alone', async () => {
  await create('gated', { schedulingGates: [{ name: 'wait' }] })
  await create('other', { schedulerName: 'other' })
  expect([await nodeOf('gated'), await nodeOf('other')]).toEqual([undefined, undefined])
})
