import { beforeEach, describe, expect, test } from 'vitest'
import type { Endpoints, EndpointSubset, Service } from '../../../../src/api/core/v1.ts'
import type { EndpointSlice } from '../../../../src/api/discovery/v1.ts'
import type { KubeObject } from '../../../../src/api/object.ts'
import { typedResource } from '../../../../src/controllers/client/clientset.ts'
import { SERVICES } from '../../../../src/controllers/workloads/endpoints/endpoint-slice.ts'
import { SimulatedPlane } from '../simulated-plane.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'

const ENDPOINTS = typedResource<KubeObject & Endpoints>('', 'endpoints')
const SLICES = typedResource<KubeObject & EndpointSlice>('discovery.k8s.io', 'endpointslices')

let simulated: SimulatedPlane
beforeEach(async () => {
  simulated = await SimulatedPlane.start()
})

const services = () => simulated.clients.resource(SERVICES, 'default')
const endpoints = () => simulated.clients.resource(ENDPOINTS, 'default')
const slices = async () =>
  (await simulated.clients.resource(SLICES, 'default').list({ labels: { 'kubernetes.io/service-name': 'db' } })).sort(
    (a, b) => (a.addressType! < b.addressType! ? -1 : 1),
  )

const service = (spec: Service['spec'] = {}): Service => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: { name: 'db', namespace: 'default' },
  spec: { ports: [{ port: 80 }], ...spec },
})

async function write(subsets: EndpointSubset[], labels: Record<string, string> = {}): Promise<void> {
  const annotations = { note: 'x', 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z' }
  const metadata = { name: 'db', namespace: 'default', labels, annotations }
  await endpoints().create({ kind: 'Endpoints', apiVersion: 'v1', metadata, subsets })
  await simulated.settled(1)
}

const addresses = ({ endpoints: all = [] }: EndpointSlice) =>
  all.map(({ addresses: [address] = [], conditions }) => `${address} ${conditions?.ready}`)

describe('Endpoints of a Service without a selector', () => {
  test('have a slice for each family and set of ports', async () => {
    await services().create(service())
    await write(
      [
        {
          addresses: [{ ip: '10.1.1.2', hostname: 'h', nodeName: 'n' }, { ip: 'fd00:0::1' }],
          notReadyAddresses: [{ ip: '10.1.1.3' }],
          ports: [
            { name: 'http', port: 80 },
            { name: 'dns', port: 53, protocol: 'UDP' },
          ],
        },
      ],
      { a: 'b' },
    )
    const [four, six, ...more] = await slices()
    expect(more).toEqual([])
    expect(four).toMatchObject({
      metadata: {
        generateName: 'db-',
        labels: {
          a: 'b',
          'kubernetes.io/service-name': 'db',
          'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
        },
        ownerReferences: [{ kind: 'Endpoints', name: 'db', controller: true, blockOwnerDeletion: true }],
      },
      addressType: 'IPv4',
      ports: [
        { name: 'http', port: 80, protocol: 'TCP' },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ],
    })
    expect(four?.metadata.annotations).toEqual({ note: 'x' })
    expect(four?.endpoints?.[0]).toMatchObject({ hostname: 'h', nodeName: 'n' })
    expect([four!, six!].map(addresses)).toEqual([['10.1.1.2 true', '10.1.1.3 false'], ['fd00::1 true']])
  })

  test('change theirs with them, which go with the Service', async () => {
    await services().create(service())
    await write([{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }] }])
    const [before] = await slices()
    await endpoints().updateWithRetries(named('db'), (object) => {
      object.subsets = [{ addresses: [{ ip: '10.1.1.9' }], ports: [{ port: 81 }] }]
    })
    await simulated.settled(1)
    const [after, ...more] = await slices()
    expect(more).toEqual([])
    expect(after?.metadata.uid).toBe(before?.metadata.uid)
    expect(after?.metadata.generateName).toBe('db-')
    expect(addresses(after!)).toEqual(['10.1.1.9 true'])
    expect(after?.ports).toMatchObject([{ port: 81 }])
    await services().delete(named('db'))
    await simulated.settled(1)
    expect(await slices()).toEqual([])
  })

  test('have theirs put right when somebody changes it', async () => {
    await services().create(service())
    await write([{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }] }])
    const [slice] = await slices()
    const client = simulated.clients.resource(SLICES, 'default')
    await client.updateWithRetries(named(slice!.metadata.name!), (object) => void (object.endpoints = []))
    await simulated.settled(1)
    expect((await slices()).map(addresses)).toEqual([['10.1.1.1 true']])
    const [again] = await slices()
    await client.delete(named(again!.metadata.name!))
    await simulated.settled(1)
    expect((await slices()).map(addresses)).toEqual([['10.1.1.1 true']])
  })

  test.each<[string, () => Promise<unknown>]>([
    ['where there is no Service', () => write([{ addresses: [{ ip: '10.1.1.1' }] }])],
    [
      'where they say so',
      async () => {
        await services().create(service())
        await write([{ addresses: [{ ip: '10.1.1.1' }] }], { 'endpointslice.kubernetes.io/skip-mirror': 'true' })
      },
    ],
    [
      'where the Service selects pods',
      async () => {
        await write([{ addresses: [{ ip: '10.1.1.1' }] }])
        await services().create(service({ selector: { app: 'db' } }))
        await simulated.settled(1)
      },
    ],
  ])('have none %s', async (_, begin) => {
    await begin()
    const managers = (await slices()).map(({ metadata }) => metadata.labels?.['endpointslice.kubernetes.io/managed-by'])
    expect(managers).not.toContain('endpointslicemirroring-controller.k8s.io')
  })

  test('of more addresses than a slice takes say so', async () => {
    await services().create(service())
    const many = Array.from({ length: 1002 }, (_, at) => ({ ip: `10.1.${at >> 8}.${at & 255}` }))
    await write([{ addresses: many, ports: [{ port: 80 }] }])
    expect((await slices()).map(({ endpoints: all }) => all?.length)).toEqual([1000])
    expect(await simulated.said('Endpoints')).toEqual([
      'Warning endpoint-slice-mirroring-controller TooManyAddressesToMirror: A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped',
    ])
  })

  test('with a place for each address and port that would not fit into memory have fewer addresses', async () => {
    await services().create(service())
    const ports = Array.from({ length: 2_000 }, (_, at) => ({ name: `p${at}`, port: at + 1 }))
    const all = Array.from({ length: 2_000 }, (_, at) => ({ ip: `10.1.${at >> 8}.${at & 255}` }))
    await write([{ addresses: all, ports }])
    expect((await slices()).flatMap(addresses)).toHaveLength(250)
  })
})
