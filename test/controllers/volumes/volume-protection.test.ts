import { describe, expect, test } from 'vitest'
import type { GroupResource } from '../../../src/api/group-version.ts'
import type { ControlPlaneInMemory } from '../control-plane.ts'
import { newPlane, of, reconcile } from '../reconcile.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'

const CLAIMS = { group: '', resource: 'persistentvolumeclaims' }
const VOLUMES = { group: '', resource: 'persistentvolumes' }
const PODS = { group: '', resource: 'pods' }

const claim = () =>
  of('v1', 'PersistentVolumeClaim', {
    metadata: { name: 'c', namespace: 'default', finalizers: ['kubernetes.io/pvc-protection'] },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })
const pod = (name: string, spec: object, phase: string) =>
  of('v1', 'Pod', {
    metadata: { name, namespace: 'default' },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }],
      ...spec,
    },
    status: { phase },
  })

async function deleted(resource: GroupResource, object: ReturnType<typeof of>): Promise<ControlPlaneInMemory> {
  const plane = await newPlane()
  await plane.create(resource, object)
  await plane.delete(resource, resource === CLAIMS ? 'default' : '', 'c')
  return plane
}

describe('a claim that is deleted', () => {
  const isThere = async (plane: ControlPlaneInMemory) => (await plane.get(CLAIMS, 'default', 'c')) !== undefined
  const KEY = 'persistentvolumeclaims/default/c'

  test('is seen for three seconds, and goes', async () => {
    const plane = await deleted(CLAIMS, claim())
    expect(await reconcile(plane, 'volume-protection', KEY)).toBe(3000)
    expect(await isThere(plane)).toBe(true)
    plane.now = new Date(plane.now.getTime() + 3000)
    expect(await reconcile(plane, 'volume-protection', KEY)).toBeUndefined()
    expect(await isThere(plane)).toBe(false)
  })

  test.each<[string, object, string, boolean]>([
    ['a pod on a node', { nodeName: 'n' }, 'Running', true],
    ['a pod that no node has', {}, 'Pending', false],
    ['a pod that succeeded', { nodeName: 'n' }, 'Succeeded', false],
    ['a pod that failed', { nodeName: 'n' }, 'Failed', false],
    [
      'a pod with another claim',
      { nodeName: 'n', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'd' } }] },
      'Running',
      false,
    ],
  ])('and %s', async (_what, spec, phase, holds) => {
    const plane = await deleted(CLAIMS, claim())
    await plane.create(PODS, pod('p', spec, phase))
    const pods = await plane.client(PODS, 'default')
    await pods.updateStatusWithRetries(named('p'), (object) => Object.assign(object, { status: { phase } }))
    plane.now = new Date(plane.now.getTime() + 3000)
    const again = await reconcile(plane, 'volume-protection', KEY)
    expect(again).toBe(holds ? 10_000 : undefined)
    expect(await isThere(plane)).toBe(holds)
  })
})

test('a volume stays while it is bound', async () => {
  const volume = of('v1', 'PersistentVolume', {
    metadata: { name: 'c', finalizers: ['kubernetes.io/pv-protection', 'example.com/mine'] },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
  })
  const plane = await deleted(VOLUMES, volume)
  const volumes = await plane.client(VOLUMES, '')
  const becomes = (phase: string) =>
    volumes.updateStatusWithRetries(named('c'), (object) => Object.assign(object, { status: { phase } }))
  plane.now = new Date(plane.now.getTime() + 3000)
  await becomes('Bound')
  expect(await reconcile(plane, 'volume-protection', 'persistentvolumes/c')).toBe(10_000)
  await becomes('Released')
  expect(await reconcile(plane, 'volume-protection', 'persistentvolumes/c')).toBeUndefined()
  expect((await plane.get(VOLUMES, '', 'c'))?.metadata.finalizers).toEqual(['example.com/mine'])
})

test.each(['persistentvolumeclaims/default/gone', 'secrets/default/c', ''])('a key of nothing: %j', async (key) => {
  expect(await reconcile(await newPlane(), 'volume-protection', key)).toBeUndefined()
})
