import { describe, expect, test } from 'vitest'
import type { Endpoints } from '../../../src/api/core/v1.ts'
import type { EndpointSlice } from '../../../src/api/discovery/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
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

describe('the endpoints of the server, which users changed', () => {
  const ENDPOINTS = { group: '', resource: 'endpoints' }
  const SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' }

  async function mended(change: (endpoints: Endpoints, slice: EndpointSlice) => void, advertise = '192.0.2.2:7443') {
    const plane = await newPlane({ KEDGE_ADVERTISE: advertise })
    const read = async () => ({
      // objects of these resources
      endpoints: (await plane.get(ENDPOINTS, 'default', 'kubernetes')) as unknown as KubeObject & Endpoints,
      slice: (await plane.get(SLICES, 'default', 'kubernetes')) as unknown as KubeObject & EndpointSlice,
    })
    const before = await read()
    change(before.endpoints, before.slice)
    for (const [resource, object] of [
      [ENDPOINTS, before.endpoints],
      [SLICES, before.slice],
    ] as const) {
      const client = await plane.client(resource, 'default')
      // own keys: of an object that was read
      await client.updateWithRetries(object, (current) => void Object.assign(current, object))
    }
    await reconcile(plane, 'server-objects', '')
    const after = await read()
    await reconcile(plane, 'server-objects', '')
    expect(await read()).toEqual(after)
    return { before, after }
  }

  const ADDRESSES = [{ ip: '192.0.2.2' }]
  const PORTS = [{ name: 'https', port: 7443, protocol: 'TCP' }]
  const READY = [{ addresses: ['192.0.2.2'], conditions: { ready: true } }]

  test('lose other addresses; ports and labels are left to users, and the slice follows', async () => {
    const ports = [{ name: 'https', port: 6443, protocol: 'TCP' }]
    const { after } = await mended((endpoints) => {
      endpoints.metadata.labels = { mine: '1' }
      endpoints.subsets = [{ addresses: [{ ip: '10.1.2.3' }, { ip: '10.1.2.4' }], ports }]
    })
    expect(after.endpoints).toMatchObject({
      metadata: { labels: { mine: '1', 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: ADDRESSES, ports }],
    })
    expect(after.slice).toMatchObject({ metadata: { generation: 2 }, endpoints: READY, ports })
  })

  test.each([
    [[]],
    [
      [
        { addresses: ADDRESSES, ports: PORTS },
        { addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 1 }] },
      ],
    ],
  ])('are made anew where they are not one subset: %j', async (subsets) => {
    const { after } = await mended((endpoints) => void (endpoints.subsets = subsets))
    expect(after.endpoints.subsets).toEqual([{ addresses: ADDRESSES, ports: PORTS }])
    expect(after.slice.endpoints).toEqual(READY)
  })

  test('are put right in the slice alone, with its labels', async () => {
    const { before, after } = await mended((_, slice) => {
      slice.endpoints = [{ addresses: ['10.1.2.3'] }]
      slice.metadata.labels = { 'kubernetes.io/service-name': 'other' }
    })
    expect(after.slice).toMatchObject({
      metadata: { uid: before.slice.metadata.uid, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      endpoints: READY,
      ports: PORTS,
    })
    expect(after.slice.metadata.managedFields?.map(({ manager }) => manager)).toContain('kube-apiserver')
  })

  test('have addresses of a subset that are not ready, but no others', async () => {
    const { after } = await mended(
      (endpoints) =>
        void (endpoints.subsets = [{ addresses: ADDRESSES, notReadyAddresses: [{ ip: '10.1.2.3' }], ports: PORTS }]),
    )
    expect(after.slice.endpoints).toEqual([...READY, { addresses: ['10.1.2.3'], conditions: { ready: false } }])
  })

  test('of a server without an address have none', async () => {
    const { after } = await mended((endpoints, slice) => {
      endpoints.subsets = [{ addresses: [{ ip: '10.1.2.3' }], ports: PORTS }]
      slice.endpoints = []
    }, 'api.example.com')
    expect(after.endpoints.subsets ?? []).toEqual([])
    expect(after.slice.endpoints).toEqual([{ addresses: ['api.example.com'], conditions: { ready: true } }])
  })

  test('of a server at its own machine alone are no valid object, and are put right all the same', async () => {
    const { after } = await mended(
      ({ subsets = [] }) => void (subsets[0]!.addresses = [{ ip: '10.1.2.3' }]),
      '127.0.0.1:6443',
    )
    expect(after.endpoints.subsets?.[0]?.addresses).toEqual([{ ip: '127.0.0.1' }])
  })
})

test('a namespace that may be a new one gets its account and its CA', async () => {
  const plane = await newPlane()
  await reconcile(plane, 'server-objects', 'default')
  expect(plane.waiting).toEqual(['service-account default in 0', 'root-ca-publisher default in 0'])
})
