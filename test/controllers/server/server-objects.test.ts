import { expect, test } from 'vitest'
import { newPlane, reconcile } from '../reconcile.ts'

const SERVICES = { group: '', resource: 'services' }
const RANGES = { group: 'networking.k8s.io', resource: 'servicecidrs' }

test('the Service of the server comes back', async () => {
  const plane = await newPlane()
  await plane.delete(SERVICES, 'default', 'kubernetes')
  expect(await plane.get(SERVICES, 'default', 'kubernetes')).toBeUndefined()
  await reconcile(plane, 'server-objects', '')
  expect(await plane.get(SERVICES, 'default', 'kubernetes')).toMatchObject({
    metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
  })
})

test('the range of Services comes back', async () => {
  const plane = await newPlane()
  await plane.delete(RANGES, '', 'kubernetes')
  await reconcile(plane, 'server-objects', '')
  expect(await plane.get(RANGES, '', 'kubernetes')).toMatchObject({
    spec: { cidrs: ['10.96.0.0/16'] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  })
})

test('a namespace that may be a new one gets its account and its CA', async () => {
  const plane = await newPlane()
  await reconcile(plane, 'server-objects', 'default')
  expect(plane.waiting).toEqual(['service-account default in 0', 'root-ca-publisher default in 0'])
})
