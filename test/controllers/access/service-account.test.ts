import { expect, test } from 'vitest'
import { newPlane, of, reconcile, settled } from '../reconcile.ts'

const ACCOUNTS = { group: '', resource: 'serviceaccounts' }
const NAMESPACES = { group: '', resource: 'namespaces' }

test('every namespace has an account of its own, which comes back', async () => {
  const plane = await newPlane()
  await plane.create(NAMESPACES, of('v1', 'Namespace', { metadata: { name: 'shop' } }))
  const account = await settled(plane, 'service-account', 'shop', [ACCOUNTS, 'shop', 'default'])
  expect(account?.metadata).toMatchObject({ name: 'default', namespace: 'shop' })
  await plane.delete(ACCOUNTS, 'shop', 'default')
  await reconcile(plane, 'service-account', 'shop')
  expect((await plane.get(ACCOUNTS, 'shop', 'default'))?.metadata.uid).not.toBe(account?.metadata.uid)
  expect(await plane.get(ACCOUNTS, 'shop', 'default')).toBeDefined()
})

test('a namespace that is not there, or is being deleted, gets none', async () => {
  const plane = await newPlane()
  await plane.create(
    NAMESPACES,
    of('v1', 'Namespace', { metadata: { name: 'going' }, spec: { finalizers: ['kubernetes'] } }),
  )
  await plane.delete(NAMESPACES, '', 'going')
  for (const namespace of ['going', 'gone']) {
    expect(await reconcile(plane, 'service-account', namespace)).toBeUndefined()
    expect(await plane.get(ACCOUNTS, namespace, 'default')).toBeUndefined()
  }
})
