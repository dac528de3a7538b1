import { expect, test } from 'vitest'
import { nodeTtl } from '../../../src/controllers/nodes/node-ttl.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'

const NODES = { group: '', resource: 'nodes' }
const TTL = 'node.alpha.kubernetes.io/ttl'

test.each([
  [0, 0, 0],
  [100, 0, 0],
  [101, 0, 15],
  [90, 15, 15],
  [89, 15, 0],
  [500, 15, 15],
  [501, 15, 30],
  [899, 60, 30],
  [2001, 0, 300],
  [1799, 300, 60],
  [50, 300, 0],
  [95, 7, 0],
])('%i nodes that said %i say %i', (count, before, seconds) => {
  expect(nodeTtl(count, before)).toBe(seconds)
})

test('a node is told, whatever somebody else wrote, and nothing is done at rest', async () => {
  const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'controllers' })
  const said = async (name: string) => (await plane.get(NODES, '', name))?.metadata.annotations?.[TTL]
  const create = (name: string, annotations: Record<string, string>) =>
    plane.create(NODES, { kind: 'Node', apiVersion: 'v1', metadata: { name, annotations } })
  await create('a', {})
  await create('b', { [TTL]: 'soon' })
  await create('c', { [TTL]: '15', other: 'x' })
  await plane.settle()
  expect([await said('a'), await said('b'), await said('c')]).toEqual(['0', '0', '0'])
  expect((await plane.get(NODES, '', 'c'))?.metadata.annotations).toMatchObject({ other: 'x' })
  const nodes = await plane.client(NODES, '')
  await nodes.patch(named('a'), 'application/merge-patch+json', { metadata: { annotations: { [TTL]: null } } })
  await plane.settle()
  expect(await said('a')).toBe('0')
  plane.tried.length = 0
  await nodes.patch(named('a'), 'application/merge-patch+json', { metadata: { labels: { a: 'b' } } })
  await plane.settle()
  expect(plane.tried).not.toContain('node-ttl')
})
