import { expect, test } from 'vitest'
import { DEFINITIONS } from '../../../src/registry/custom-resources/definition.ts'
import { definition } from '../definition.ts'
import { newPlane, of, reconcile } from '../reconcile.ts'

const NAME = 'things.example.com'
const SHARD = 'things.example.com'

const planeWithDefinition = async () => {
  const plane = await newPlane()
  await plane.server.put(DEFINITIONS.group, DEFINITIONS.resource, definition('things', 'example.com'))
  return plane
}

test('a kind without objects and watches gets no database', async () => {
  const plane = await planeWithDefinition()
  plane.asked.clear()
  expect(await reconcile(plane, 'crd-renewal', NAME)).toBeUndefined()
  expect([...plane.asked].filter((shard) => shard.includes(SHARD))).toEqual([])
})

test('the shard of a kind that was written to ends its watches', async () => {
  const plane = await planeWithDefinition()
  const thing = of('example.com/v1', 'Thing', { metadata: { name: 'a', namespace: 'default' } })
  await plane.create({ group: 'example.com', resource: 'things' }, thing)
  plane.asked.clear()
  await reconcile(plane, 'crd-renewal', NAME)
  expect([...plane.asked].filter((shard) => shard.includes(SHARD))).toHaveLength(1)
})

test('so is that of one that somebody watches, which is forgotten with its definition', async () => {
  const plane = await newPlane()
  plane.watched.add(NAME)
  plane.asked.clear()
  await reconcile(plane, 'crd-renewal', NAME)
  expect([...plane.asked].filter((shard) => shard.includes(SHARD))).toHaveLength(1)
  expect([...plane.watched]).toEqual([])
})
