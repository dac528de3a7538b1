import { expect, test } from 'vitest'
import { DEFINITIONS } from '../../../src/registry/custom-resources/definition.ts'
import { definition } from '../definition.ts'
import { newPlane, of, reconcile, settled } from '../reconcile.ts'

const API_SERVICES = { group: 'apiregistration.k8s.io', resource: 'apiservices' }
const AUTOMANAGED = 'kube-aggregator.kubernetes.io/automanaged'

test('a version that a definition serves has an APIService, until none does', async () => {
  const plane = await newPlane()
  await plane.server.put(DEFINITIONS.group, DEFINITIONS.resource, definition('things', 'example.com'))
  const at = [API_SERVICES, '', 'v1.example.com'] as const
  expect(await settled(plane, 'crd-api-services', 'example.com', at)).toMatchObject({
    metadata: { labels: { [AUTOMANAGED]: 'true' } },
    spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 },
    status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
  })
  await plane.delete(DEFINITIONS, '', 'things.example.com')
  await reconcile(plane, 'crd-finalizer', 'things.example.com')
  expect(await plane.get(DEFINITIONS, '', 'things.example.com')).toBeUndefined()
  await reconcile(plane, 'crd-api-services', 'example.com')
  expect(await plane.get(API_SERVICES, '', 'v1.example.com')).toBeUndefined()
})

test('one that somebody else registered stays', async () => {
  const plane = await newPlane()
  const spec = {
    group: 'example.com',
    version: 'v2',
    groupPriorityMinimum: 5,
    versionPriority: 5,
    insecureSkipTLSVerify: true,
    service: { namespace: 'a', name: 'b' },
  }
  await plane.create(
    API_SERVICES,
    of('apiregistration.k8s.io/v1', 'APIService', { metadata: { name: 'v2.example.com' }, spec }),
  )
  await reconcile(plane, 'crd-api-services', 'example.com')
  expect(await plane.get(API_SERVICES, '', 'v2.example.com')).toBeDefined()
})
