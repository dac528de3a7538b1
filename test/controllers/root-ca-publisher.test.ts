import { expect, test } from 'vitest'
import type { ConfigMap } from '../../src/api/core/v1.ts'
import { CONFIG_MAPS } from './control-plane.ts'
import { newPlane, reconcile, settled } from './reconcile.ts'

const ROOT_CA = 'kube-root-ca.crt'

test('the ConfigMap has the authority and nothing else, whatever somebody puts into it', async () => {
  const plane = await newPlane()
  const at = [CONFIG_MAPS, 'default', ROOT_CA] as const
  const made = await settled<ConfigMap>(plane, 'root-ca-publisher', 'default', at)
  expect(made?.data).toEqual({ 'ca.crt': '' })
  expect(made?.metadata.annotations).toHaveProperty(['kubernetes.io/description'])
  const client = await plane.client(CONFIG_MAPS, 'default')
  await client.updateWithRetries(ROOT_CA, (object) => Object.assign(object, { data: { 'ca.crt': 'mine', more: 'x' } }))
  expect((await settled<ConfigMap>(plane, 'root-ca-publisher', 'default', at))?.data).toEqual({ 'ca.crt': '' })
  await plane.delete(CONFIG_MAPS, 'default', ROOT_CA)
  expect(await settled(plane, 'root-ca-publisher', 'default', at)).toBeDefined()
})

test('a namespace that is not there gets none', async () => {
  const plane = await newPlane()
  await reconcile(plane, 'root-ca-publisher', 'gone')
  expect(await plane.get(CONFIG_MAPS, 'gone', ROOT_CA)).toBeUndefined()
})
