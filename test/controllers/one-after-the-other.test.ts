// Users may have any number of objects, of a megabyte each. Controllers that look for some of them keep no others.
import { afterEach, expect, test, vi } from 'vitest'
import type { Topic } from '../../src/registry/work/topic.ts'
import { ResourceClient } from '../../src/controllers/client/resource-client.ts'
import { CONFIG_MAPS } from './control-plane.ts'
import { definition } from './definition.ts'
import { newPlane, of, reconcile } from './reconcile.ts'

const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }
const CLAIMS = { group: '', resource: 'persistentvolumeclaims' }
const CLASSES = { group: 'storage.k8s.io', resource: 'volumeattributesclasses' }

afterEach(() => vi.restoreAllMocks())

test.each<[Topic, string]>([
  ['volume-protection', 'persistentvolumeclaims/default/c'],
  ['volume-protection', 'volumeattributesclasses.storage.k8s.io/c'],
  ['service-account-departed', 'default/robot'],
  ['bootstrap-signer', ''],
  ['crd-finalizer', 'widgets.example.com'],
])('%s %s', async (controller, key) => {
  const plane = await newPlane()
  const metadata = { name: 'c', namespace: 'default' }
  const going = {
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['customresourcecleanup.apiextensions.k8s.io'],
  }
  await plane.server.put(DEFINITIONS.group, DEFINITIONS.resource, definition('widgets', 'example.com', going))
  await plane.server.put('example.com', 'widgets', { kind: 'Widget', apiVersion: 'example.com/v1', metadata })
  await plane.create(
    CONFIG_MAPS,
    of('v1', 'ConfigMap', { metadata: { name: 'cluster-info', namespace: 'kube-public' }, data: { kubeconfig: '{}' } }),
  )
  await plane.create(
    CLAIMS,
    of('v1', 'PersistentVolumeClaim', {
      metadata: { ...metadata, finalizers: ['kubernetes.io/pvc-protection'] },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }),
  )
  await plane.create(
    CLASSES,
    of('storage.k8s.io/v1', 'VolumeAttributesClass', {
      metadata: { name: 'c', finalizers: ['kubernetes.io/vac-protection'] },
      driverName: 'd',
      parameters: { a: 'b' },
    }),
  )
  for (const [resource, namespace, name] of [
    [CLAIMS, 'default', 'c'],
    [CLASSES, '', 'c'],
  ] as const)
    await plane.delete(resource, namespace, name)
  plane.now = new Date(plane.now.getTime() + 60_000)
  const list = vi.spyOn(ResourceClient.prototype, 'list')
  await reconcile(plane, controller, key)
  expect(list).not.toHaveBeenCalled()
})
