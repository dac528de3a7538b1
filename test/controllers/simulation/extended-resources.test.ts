import { expect, test } from 'vitest'
import { named } from '../../../src/controllers/client/resource-client.ts'
import { NODES } from '../../../src/controllers/simulation/simulated-node.ts'
import { SimulatedPlane } from '../workloads/simulated-plane.ts'

const allocatable = async ({ clients }: SimulatedPlane) =>
  (await clients.resource(NODES).get('node-1'))?.status?.allocatable

/** As the page "Advertise Extended Resources for a Node" of Kubernetes does. */
async function patched({ clients, plane }: SimulatedPlane, status: object): Promise<void> {
  await clients.resource(NODES).patch(named('node-1'), 'application/merge-patch+json', { status }, 'status')
  await plane.settle()
}

const SIZE = { cpu: '8', memory: '32Gi', 'ephemeral-storage': '100Gi', pods: '110' }

test('what a client advertises in the capacity of a node is allocatable', async () => {
  const simulated = await SimulatedPlane.start('node-1')
  await patched(simulated, { capacity: { 'example.com/dongle': '4' } })
  expect(await allocatable(simulated)).toEqual({ ...SIZE, 'example.com/dongle': '4' })
  await patched(simulated, { capacity: { 'example.com/dongle': '2' } })
  expect(await allocatable(simulated)).toEqual({ ...SIZE, 'example.com/dongle': '2' })
  await patched(simulated, { capacity: { 'example.com/dongle': null } })
  expect(await allocatable(simulated)).toEqual(SIZE)
})

test('what is allocatable without a capacity is taken away, and other amounts stay as a client set them', async () => {
  const simulated = await SimulatedPlane.start('node-1')
  await patched(simulated, { allocatable: { cpu: '6', 'example.com/dongle': '4' } })
  expect(await allocatable(simulated)).toEqual({ ...SIZE, cpu: '6' })
})

test('a node whose amounts agree is not written', async () => {
  const simulated = await SimulatedPlane.start('node-1')
  const { clients, plane } = simulated
  await patched(simulated, { capacity: { 'example.com/dongle': '4' } })
  const { resourceVersion } = (await clients.resource(NODES).get('node-1'))!.metadata
  await plane.pass(60_000)
  expect((await clients.resource(NODES).get('node-1'))?.metadata.resourceVersion).toBe(resourceVersion)
})
