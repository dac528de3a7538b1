import { expect, test } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import type { ControlPlaneInMemory } from '../control-plane.ts'
import { newPlane, of, reconcile } from '../reconcile.ts'

const ACCOUNTS = { group: '', resource: 'serviceaccounts' }
const SECRETS = { group: '', resource: 'secrets' }
const TYPE = 'kubernetes.io/service-account-token'

const secret = (name: string, account: string, more: object = {}, type = TYPE) =>
  of('v1', 'Secret', {
    metadata: { name, namespace: 'default', annotations: { 'kubernetes.io/service-account.name': account, ...more } },
    type,
    // has a token already: this server has no key that signs one
    data: { token: 'dA==' },
  })
const account = (plane: ControlPlaneInMemory, name: string) =>
  plane.create(ACCOUNTS, of('v1', 'ServiceAccount', { metadata: { name, namespace: 'default' } }))
const isThere = async (plane: ControlPlaneInMemory, name: string) =>
  (await plane.get(SECRETS, 'default', name)) !== undefined

test('a Secret of an account that is not there goes, as does one of an account of former days', async () => {
  const plane = await newPlane()
  const { metadata } = await account(plane, 'robot')
  const uid = { 'kubernetes.io/service-account.uid': metadata.uid }
  const former = { 'kubernetes.io/service-account.uid': 'another' }
  await plane.create(SECRETS, secret('lost', 'nobody'))
  await plane.create(SECRETS, secret('former', 'robot', former))
  await plane.create(SECRETS, secret('good', 'robot', uid))
  await plane.create(SECRETS, secret('other', 'nobody', {}, 'Opaque'))
  await plane.pass(2_000)
  for (const name of ['lost', 'former', 'good', 'other', 'gone'])
    expect(await reconcile(plane, 'service-account-secret', `default/${name}`)).toBeUndefined()
  const left = ((await (await plane.client(SECRETS, 'default')).list()) as KubeObject[]).map((one) => one.metadata.name)
  expect(left.sort()).toEqual(['good', 'other'])
})

test('a client may create a Secret and its account at the same time', async () => {
  const plane = await newPlane()
  await plane.create(SECRETS, secret('early', 'robot'))
  const wait = await reconcile(plane, 'service-account-secret', 'default/early')
  expect(wait).toBeGreaterThan(0)
  expect(await isThere(plane, 'early')).toBe(true)
  await account(plane, 'robot')
  plane.now = new Date(plane.now.getTime() + wait!)
  // it goes on to the token
  await expect(reconcile(plane, 'service-account-secret', 'default/early')).rejects.toThrow('no signing key')
  expect(await isThere(plane, 'early')).toBe(true)
})

test('a Secret with its token is completed with the namespace', async () => {
  const plane = await newPlane()
  const { metadata } = await account(plane, 'robot')
  await plane.create(SECRETS, secret('good', 'robot', { 'kubernetes.io/service-account.uid': metadata.uid }))
  await reconcile(plane, 'service-account-secret', 'default/good')
  const filled = await plane.get(SECRETS, 'default', 'good')
  expect(filled).toMatchObject({ data: { token: 'dA==', namespace: Buffer.from('default').toString('base64') } })
  await reconcile(plane, 'service-account-secret', 'default/good')
  expect((await plane.get(SECRETS, 'default', 'good'))?.metadata.resourceVersion).toBe(filled?.metadata.resourceVersion)
})

test('with an account its tokens go, and no others', async () => {
  const plane = await newPlane()
  const { metadata } = await account(plane, 'robot')
  await account(plane, 'other')
  const uid = { 'kubernetes.io/service-account.uid': metadata.uid }
  await plane.create(SECRETS, secret('of-robot', 'robot', uid))
  await plane.create(SECRETS, secret('of-other', 'other'))
  await reconcile(plane, 'service-account-departed', 'default/robot')
  expect([await isThere(plane, 'of-robot'), await isThere(plane, 'of-other')]).toEqual([true, true])
  await plane.delete(ACCOUNTS, 'default', 'robot')
  await plane.create(SECRETS, secret('of-the-next', 'robot'))
  await reconcile(plane, 'service-account-departed', 'default/robot')
  expect(await isThere(plane, 'of-the-next')).toBe(true)
  expect([await isThere(plane, 'of-robot'), await isThere(plane, 'of-other')]).toEqual([false, true])
})
