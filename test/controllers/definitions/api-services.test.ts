import { describe, expect, test } from 'vitest'
import type { APIService } from '../../../src/api/apiregistration/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'
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

describe('a user who writes the APIService of a definition', () => {
  type Service = KubeObject & APIService
  const edited = async (name: string, edit: (service: Service) => void): Promise<Service | undefined> => {
    const plane = await newPlane()
    await plane.server.put(DEFINITIONS.group, DEFINITIONS.resource, definition('things', 'example.com'))
    await reconcile(plane, 'crd-api-services', 'example.com')
    const client = await plane.client(API_SERVICES, '')
    await client.updateWithRetries(named(name), (service) => edit(service as Service))
    await plane.settle()
    return plane.get(API_SERVICES, '', name) as Promise<Service | undefined>
  }

  test('gets it back as it was', async () => {
    const after = await edited('v1.example.com', ({ spec }) => void (spec!.versionPriority = 7))
    expect(after?.spec?.versionPriority).toBe(100)
  })

  test('may take it over by removing the label', async () => {
    const after = await edited('v1.example.com', ({ metadata, spec }) => {
      metadata.labels = {}
      spec!.versionPriority = 7
    })
    expect(after?.spec?.versionPriority).toBe(7)
  })

  test('gets a deleted one anew, and none that no definition serves', async () => {
    const plane = await newPlane()
    await plane.server.put(DEFINITIONS.group, DEFINITIONS.resource, definition('things', 'example.com'))
    await reconcile(plane, 'crd-api-services', 'example.com')
    await plane.delete(API_SERVICES, '', 'v1.example.com')
    const spec = { group: 'example.com', version: 'v3', groupPriorityMinimum: 5, versionPriority: 5 }
    const metadata = { name: 'v3.example.com', labels: { [AUTOMANAGED]: 'true' } }
    await plane.create(API_SERVICES, of('apiregistration.k8s.io/v1', 'APIService', { metadata, spec }))
    await plane.settle()
    expect(await plane.get(API_SERVICES, '', 'v1.example.com')).toBeDefined()
    expect(await plane.get(API_SERVICES, '', 'v3.example.com')).toBeUndefined()
  })

  test('changes nothing of a version that is built in', async () => {
    const after = await edited('v1.apps', ({ metadata }) => void (metadata.labels = { [AUTOMANAGED]: 'true' }))
    expect(after?.metadata.labels).toEqual({ [AUTOMANAGED]: 'true' })
  })
})
