import { beforeEach, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'
import { ApiClient } from '../../src/controllers/api-client.ts'
import type { ControllerContext } from '../../src/controllers/controller.ts'
import { servedResources } from '../../src/registry/served.ts'
import { memoryServer } from '../request-in-memory.ts'

const CONFIG_MAPS = { group: '', resource: 'configmaps' }

let client: ApiClient

beforeEach(async () => {
  const { env, tenant, now, request } = memoryServer()
  const served = await servedResources(request('/'))
  const context: ControllerContext = {
    env,
    tenant,
    served,
    freshServed: () => Promise.resolve(served),
    now: () => now,
    dependentsOf: () => [],
    alone: (_, work) => work(),
    watchedKinds: { has: () => false, forgetOthers: () => {} },
    absentOwners: { has: () => false, add: () => {} },
    later: () => {},
  }
  client = new ApiClient(context, CONFIG_MAPS, 'default', '', 'a-controller')
})

const configMap = (data: Record<string, string>) =>
  ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data }) as unknown as JsonObject & KubeObject

const dataOf = (object: KubeObject | undefined) => (object as { data?: Record<string, string> } | undefined)?.data

test('what is created is there, with the fields and the owner that the server gives it', async () => {
  const created = await client.create(configMap({ a: '1' }))
  expect(created.metadata).toMatchObject({
    namespace: 'default',
    uid: expect.any(String),
    resourceVersion: expect.any(String),
  })
  expect(created.metadata.managedFields).toMatchObject([{ manager: 'a-controller', operation: 'Update' }])
  expect(await client.get('a')).toEqual(created)
})

test('an update edits what is stored, and returns what it left', async () => {
  const created = await client.create(configMap({ a: '1' }))
  const updated = await client.update('a', (object) => Object.assign(object, { data: { a: '2' } }))
  expect(dataOf(updated)).toEqual({ a: '2' })
  expect(Number(updated.metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion))
  expect(await client.get('a')).toEqual(updated)
})

test('an update that changes nothing writes nothing', async () => {
  const created = await client.create(configMap({ a: '1' }))
  expect(await client.update('a', () => {})).toEqual(created)
})

test('an update of what is not there is refused', async () => {
  await expect(client.update('a', () => {})).rejects.toMatchObject({ code: 404 })
})

test('apply merges, and owns what it applied', async () => {
  await client.create(configMap({ a: '1' }))
  const applied = await client.apply(configMap({ b: '2' }), 'an-applier')
  expect(dataOf(applied)).toEqual({ a: '1', b: '2' })
  expect(applied.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
    ['an-applier', 'Apply'],
    ['a-controller', 'Update'],
  ])
})

test('what is deleted is gone', async () => {
  await client.create(configMap({}))
  expect(await client.delete('a')).toMatchObject({ gone: true })
  expect(await client.get('a')).toBeUndefined()
})
