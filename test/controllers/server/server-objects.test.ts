import { expect, test } from 'vitest'
import { newPlane, reconcile } from '../reconcile.ts'

const SERVICES = { group: '', resource: 'services' }

test('the Service of the server comes back', async () => {
  const plane = await newPlane()
  await plane.delete(SERVICES, 'default', 'kubernetes')
  expect(await plane.get(SERVICES, 'default', 'kubernetes')).toBeUndefined()
  await reconcile(plane, 'server-objects', '')
  expect(await plane.get(SERVICES, 'default', 'kubernetes')).toMatchObject({
    metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
  })
})

test('a namespace that may be a new one gets its account and its CA', async () => {
  const plane = await newPlane()
  await reconcile(plane, 'server-objects', 'default')
  expect(plane.waiting).toEqual(['service-account default in 0', 'root-ca-publisher default in 0'])
})
