import { expect, test } from 'vitest'
import type { Node, Pod, Service } from '../../../src/api/core/v1.ts'
import type { EndpointSlice } from '../../../src/api/discovery/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'
import { plainPod } from '../plain-pod.ts'

const NODES = { group: '', resource: 'nodes' }
const PODS = { group: '', resource: 'pods' }
const SERVICES = { group: '', resource: 'services' }
const SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' }

/** A node, pods of it, one of them in its network, and the addresses behind a Service. */
async function addressesOn(ranges: string) {
  const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated', KEDGE_SERVICE_RANGE: ranges })
  const labels = { 'kedge.dev/simulated': 'true' }
  await plane.create(NODES, { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n', labels } })
  await plane.settle()
  const service = { ipFamilyPolicy: 'PreferDualStack', selector: { app: 'web' }, ports: [{ port: 80 }] }
  const metadata = { name: 'web', namespace: 'default' }
  await plane.create(SERVICES, { kind: 'Service', apiVersion: 'v1', metadata, spec: service } as never)
  for (const [name, hostNetwork] of [
    ['a', false],
    ['b', true],
  ] as const) {
    const pod = plainPod(name, { nodeName: 'n', hostNetwork })
    await plane.create(PODS, { ...pod, metadata: { ...pod.metadata, labels: { app: 'web' } } } as never)
  }
  await plane.settle()
  const node = (await plane.get(NODES, '', 'n')) as Node & KubeObject
  const [a, b] = await Promise.all(['a', 'b'].map((name) => plane.get(PODS, 'default', name)))
  const ipsOf = (pod: unknown) => (pod as Pod).status?.podIPs?.map(({ ip }) => ip) // a Pod
  const slices = (await (await plane.client(SLICES, 'default')).list()) as (EndpointSlice & KubeObject)[]
  return {
    podCIDRs: node.spec?.podCIDRs,
    node: node.status?.addresses?.flatMap(({ type, address }) => (type === 'InternalIP' ? [address] : [])),
    pod: ipsOf(a),
    host: ipsOf(b),
    hostIPs: (a as Pod | undefined)?.status?.hostIPs?.map(({ ip }) => ip),
    families: ((await plane.get(SERVICES, 'default', 'web')) as Service | undefined)?.spec?.ipFamilies,
    endpoints: Object.fromEntries(
      slices
        .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web')
        .map(({ addressType, endpoints = [] }) => [
          addressType,
          endpoints
            .map(({ addresses }) => addresses)
            .flat()
            .sort(),
        ]),
    ),
  }
}

test('simulated pods have an address of each family that Services have', async () => {
  expect(await addressesOn('10.96.0.0/16,fd00:10:96::/112')).toEqual({
    podCIDRs: ['10.244.0.0/24', 'fd00:10:244:1::/64'],
    node: ['172.18.0.1', 'fd00:172:18::1'],
    pod: ['10.244.0.2', 'fd00:10:244:1::2'],
    host: ['172.18.0.1', 'fd00:172:18::1'],
    hostIPs: ['172.18.0.1', 'fd00:172:18::1'],
    families: ['IPv4', 'IPv6'],
    endpoints: { IPv4: ['10.244.0.2', '172.18.0.1'], IPv6: ['fd00:10:244:1::2', 'fd00:172:18::1'] },
  })
})

test('where Services have IPv6 alone, so have pods', async () => {
  expect(await addressesOn('fd00:10:96::/112')).toMatchObject({
    podCIDRs: ['fd00:10:244:1::/64'],
    node: ['fd00:172:18::1'],
    pod: ['fd00:10:244:1::2'],
    endpoints: { IPv6: ['fd00:10:244:1::2', 'fd00:172:18::1'] },
  })
})

test('where they have IPv4 alone, pods have no other', async () => {
  expect(await addressesOn('10.96.0.0/16')).toMatchObject({ podCIDRs: ['10.244.0.0/24'], pod: ['10.244.0.2'] })
})
