import { beforeEach, expect, test } from 'vitest'
import type { Service } from '../../../src/api/core/v1.ts'
import type { Clientset } from '../../../src/controllers/client/clientset.ts'
import { clientsetFor } from '../../../src/controllers/client/clientset.ts'
import { SERVICES } from '../../../src/controllers/workloads/endpoints/endpoint-slice.ts'
import { ControlPlaneInMemory, EVENTS } from '../control-plane.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'

let plane: ControlPlaneInMemory
let clients: Clientset

beforeEach(async () => {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  clients = clientsetFor(await plane.context(), 'somebody')
})

async function expose(name: string, spec: Service['spec'] = {}): Promise<void> {
  await clients.resource(SERVICES, 'default').create({
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec },
  })
  await plane.settle()
}

const service = (name: string) => clients.resource(SERVICES, 'default').get(name)
const address = async (name: string) => (await service(name))?.status?.loadBalancer?.ingress?.[0]?.ip
const reasons = async () =>
  (await clients.resource({ ...EVENTS }, 'default').list()).map((event) => (event as { reason?: string }).reason).sort()

test('each Service gets an address of its own', async () => {
  await expose('one')
  await expose('two')
  expect([await address('one'), await address('two')]).toEqual(['198.18.0.1', '198.18.0.2'])
  expect((await service('one'))?.metadata.finalizers).toEqual(['service.kubernetes.io/load-balancer-cleanup'])
  expect(await reasons()).toEqual([
    'EnsuredLoadBalancer',
    'EnsuredLoadBalancer',
    'EnsuringLoadBalancer',
    'EnsuringLoadBalancer',
  ])
})

test('one that is deleted lets its address go', async () => {
  await expose('one')
  await clients.resource(SERVICES, 'default').delete(named('one'))
  await plane.settle()
  expect(await service('one')).toBeUndefined()
  await expose('two')
  expect(await address('two')).toBe('198.18.0.1')
  expect(await reasons()).toContain('DeletedLoadBalancer')
})

test('one that becomes another type gives its address back', async () => {
  await expose('one')
  await clients.resource(SERVICES, 'default').updateWithRetries(named('one'), ({ spec }) => {
    spec!.type = 'ClusterIP'
    for (const port of spec!.ports ?? []) delete port.nodePort
    delete spec!.allocateLoadBalancerNodePorts
    delete spec!.externalTrafficPolicy
  })
  await plane.settle()
  expect([(await service('one'))?.metadata.finalizers, await address('one')]).toEqual([undefined, undefined])
})

test('one of another class is left alone', async () => {
  await expose('other', { loadBalancerClass: 'example.com/lb' })
  expect(await address('other')).toBeUndefined()
})
