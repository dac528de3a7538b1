import { expect, test } from 'vitest'
import type { ConfigMap } from '../../../src/api/core/v1.ts'
import { CONFIG_MAPS } from '../control-plane.ts'
import { newPlane, of, reconcile, settled } from '../reconcile.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'

const ROOT_CA = 'kube-root-ca.crt'

test('the ConfigMap has the authority and nothing else, whatever somebody puts into it', async () => {
  const plane = await newPlane()
  const at = [CONFIG_MAPS, 'default', ROOT_CA] as const
  const made = await settled<ConfigMap>(plane, 'root-ca-publisher', 'default', at)
  expect(made?.data).toEqual({ 'ca.crt': '' })
  expect(made?.metadata.annotations).toHaveProperty(['kubernetes.io/description'])
  const client = await plane.client(CONFIG_MAPS, 'default')
  await client.updateWithRetries(named(ROOT_CA), (object) =>
    Object.assign(object, { data: { 'ca.crt': 'mine', more: 'x' } }),
  )
  expect((await settled<ConfigMap>(plane, 'root-ca-publisher', 'default', at))?.data).toEqual({ 'ca.crt': '' })
  await plane.delete(CONFIG_MAPS, 'default', ROOT_CA)
  expect(await settled(plane, 'root-ca-publisher', 'default', at)).toBeDefined()
})

test('a namespace that is not there gets none', async () => {
  const plane = await newPlane()
  await reconcile(plane, 'root-ca-publisher', 'gone')
  expect(await plane.get(CONFIG_MAPS, 'gone', ROOT_CA)).toBeUndefined()
})

test('another authority of the server goes to all namespaces, and into the Secrets with tokens', async () => {
  const plane = await newPlane()
  // as it was with the authority before
  const v1 = { apiVersion: 'v1' }
  const status = { phase: 'Active' }
  await plane.server.put('', 'namespaces', { ...v1, kind: 'Namespace', metadata: { name: 'a' }, status })
  const metadata = { name: ROOT_CA, namespace: 'a' }
  await plane.server.put('', 'configmaps', { ...v1, kind: 'ConfigMap', metadata, data: { 'ca.crt': 'old' } })
  const account = of('v1', 'ServiceAccount', { metadata: { name: 'robot', namespace: 'default' } })
  const { uid = '' } = (await plane.create({ group: '', resource: 'serviceaccounts' }, account)).metadata
  const annotations = { 'kubernetes.io/service-account.name': 'robot', 'kubernetes.io/service-account.uid': uid }
  const token = { name: 'token', namespace: 'default', annotations }
  const type = 'kubernetes.io/service-account-token'
  // has a token already: this server has no key that signs one
  const secret = of('v1', 'Secret', { metadata: token, type, data: { token: 'dA==' } })
  await plane.create({ group: '', resource: 'secrets' }, secret)
  await plane.settle()
  plane.tried.length = 0
  const client = await plane.client(CONFIG_MAPS, 'kube-system')
  await client.updateWithRetries(named(ROOT_CA), (object) => Object.assign(object, { data: { 'ca.crt': 'new' } }))
  await plane.settle()
  expect(new Set(plane.tried)).toEqual(new Set(['root-ca-publisher', 'service-account-secret']))
  expect(await plane.get(CONFIG_MAPS, 'a', ROOT_CA)).toMatchObject({ data: { 'ca.crt': '' } })
})

test('a quota counts it, and refuses it while it is full', async () => {
  const plane = await newPlane()
  const quotas = { group: '', resource: 'resourcequotas' }
  const spec = { hard: { 'count/configmaps': '0' } }
  await plane.create(quotas, of('v1', 'ResourceQuota', { metadata: { name: 'full', namespace: 'default' }, spec }))
  await plane.settle()
  await plane.delete(CONFIG_MAPS, 'default', ROOT_CA)
  await expect(reconcile(plane, 'root-ca-publisher', 'default')).rejects.toThrow(
    'configmaps "kube-root-ca.crt" is forbidden: exceeded quota: full',
  )
  expect(await plane.get(CONFIG_MAPS, 'default', ROOT_CA)).toBeUndefined()
})
