import { beforeEach, describe, expect, test } from 'vitest'
import type { Endpoints, Pod, Service } from '../../../../src/api/core/v1.ts'
import type { EndpointSlice } from '../../../../src/api/discovery/v1.ts'
import type { KubeObject } from '../../../../src/api/object.ts'
import type { Clientset } from '../../../../src/controllers/client/clientset.ts'
import { clientsetFor, typedResource } from '../../../../src/controllers/client/clientset.ts'
import { SERVICES } from '../../../../src/controllers/workloads/endpoints/endpoint-slice.ts'
import { mostPods, subsetsOf } from '../../../../src/controllers/workloads/endpoints/endpoints.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import { endpointOf } from '../../../../src/controllers/workloads/endpoints/service-endpoints.ts'
import { planSlices } from '../../../../src/controllers/workloads/endpoints/slice-plan.ts'
import { ControlPlaneInMemory } from '../../control-plane.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'

const ENDPOINTS = typedResource<KubeObject & Endpoints>('', 'endpoints')
const SLICES = typedResource<KubeObject & EndpointSlice>('discovery.k8s.io', 'endpointslices')

let plane: ControlPlaneInMemory
let clients: Clientset

beforeEach(async () => {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'controllers' })
  clients = clientsetFor(await plane.context(), 'somebody')
  await clients.resource(typedResource('', 'nodes')).create({ kind: 'Node', apiVersion: 'v1', metadata: { name: 'n' } })
})

const service = (spec: Service['spec'] = {}): Service => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: { name: 'web', namespace: 'default', uid: 's' },
  spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' }], ...spec },
})

async function pod(name: string, ip: string, isReady = true): Promise<void> {
  const pods = clients.resource(PODS, 'default')
  await pods.create({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default', labels: { app: 'web' } },
    spec: {
      nodeName: 'n',
      serviceAccountName: 'default',
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort: 8080 }] }],
    },
  })
  await report(name, ip, isReady)
}

async function report(name: string, ip: string, isReady: boolean, time = '2026-01-01T00:00:00Z'): Promise<void> {
  await clients.resource(PODS, 'default').updateStatusWithRetries(named(name), (object) => {
    object.status = {
      ...object.status,
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: time }],
    }
  })
  await plane.settle()
}

const slices = async () =>
  (await clients.resource(SLICES, 'default').list()).filter(({ metadata }) => metadata.name !== 'kubernetes')
const changeTimes = async () =>
  [...(await slices()), (await clients.resource(ENDPOINTS, 'default').get('web'))!].map(
    ({ metadata }) => metadata.annotations?.['endpoints.kubernetes.io/last-change-trigger-time'],
  )
const told = async () =>
  (await slices()).map(({ endpoints, ports }) => [
    (endpoints ?? []).map(({ addresses, conditions }) => `${addresses?.join()} ${conditions?.ready}`).sort(),
    (ports ?? []).map(({ name, port }) => `${name} ${port}`),
  ])

describe('a Service', () => {
  test('leads to the pods that it selects, while they are ready', async () => {
    await clients.resource(SERVICES, 'default').create(service())
    await plane.settle()
    expect(await told()).toEqual([[[], []]])
    await pod('a', '10.0.0.1')
    await pod('b', '10.0.0.2', false)
    expect(await told()).toEqual([[['10.0.0.1 true', '10.0.0.2 false'], ['http 8080']]])
    // the empty slice is taken over, and keeps how its name came about
    expect((await slices()).map(({ metadata }) => metadata.generateName)).toEqual(['web-'])
    await report('b', '10.0.0.2', true)
    expect(await told()).toEqual([[['10.0.0.1 true', '10.0.0.2 true'], ['http 8080']]])
    await clients.resource(PODS, 'default').delete(named('a'), { gracePeriodSeconds: 0 })
    await plane.settle()
    expect(await told()).toEqual([[['10.0.0.2 true'], ['http 8080']]])
  })

  test('gets back a slice that somebody deletes', async () => {
    await clients.resource(SERVICES, 'default').create(service())
    await pod('a', '10.0.0.1')
    const [slice] = await slices()
    await clients.resource(SLICES, 'default').delete(named(slice!.metadata.name!))
    await plane.settle()
    expect(await told()).toEqual([[['10.0.0.1 true'], ['http 8080']]])
  })

  test('has the time at which a pod changed in what is written for it', async () => {
    const services = clients.resource(SERVICES, 'default')
    await services.create(service())
    await plane.settle()
    const { creationTimestamp } = (await services.get('web'))!.metadata
    expect(await changeTimes()).toEqual([creationTimestamp, creationTimestamp])
    await pod('a', '10.0.0.1', false)
    await pod('b', '10.0.0.2')
    await report('a', '10.0.0.1', true, '2026-01-01T00:00:07Z')
    expect(await changeTimes()).toEqual(['2026-01-01T00:00:07Z', '2026-01-01T00:00:07Z'])
    // what is written for something else tells no time
    await services.updateWithRetries(named('web'), ({ metadata }) => {
      metadata.labels = { team: 'a' }
    })
    await plane.settle()
    expect(await changeTimes()).toEqual([undefined, undefined])
    const [slice] = await slices()
    await clients.resource(SLICES, 'default').delete(named(slice!.metadata.name!))
    await clients.resource(ENDPOINTS, 'default').delete(named('web'))
    await plane.settle()
    expect(await changeTimes()).toEqual([undefined, undefined])
  })

  test('without a selector is left alone', async () => {
    const { selector: _, ...spec } = service().spec ?? {}
    await clients.resource(SERVICES, 'default').create({ ...service(), spec })
    await plane.settle()
    expect(await slices()).toEqual([])
  })
})

const endpoint = (at: number) => ({ addresses: [`10.0.${at >> 8}.${at & 255}`], conditions: { ready: true } })

describe('slices', () => {
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' }]
  const group = (count: number) => [{ ports, endpoints: Array.from({ length: count }, (_, at) => endpoint(at)) }]
  const sizes = (all: readonly EndpointSlice[]) => all.map(({ endpoints = [] }) => endpoints.length)

  test('hold a hundred endpoints each', () => {
    const { create, update, remove } = planSlices(service(), 'IPv4', group(250), [])
    expect(sizes(create)).toEqual([100, 100, 50])
    expect([update, remove]).toEqual([[], []])
  })

  test('are filled before new ones are made, and left alone where nothing changes', () => {
    const { create } = planSlices(service(), 'IPv4', group(150), [])
    const stored = create.map((slice, at) => ({ ...slice, metadata: { ...slice.metadata, name: `s${at}` } }))
    const more = planSlices(service(), 'IPv4', group(170), stored)
    expect([sizes(more.create), sizes(more.update), more.remove]).toEqual([[], [70], []])
    const same = planSlices(service(), 'IPv4', group(150), stored)
    expect([same.create, same.update, same.remove]).toEqual([[], [], []])
  })
})

test('Endpoints put ports with the same addresses together', () => {
  const at = (name: string, ip: string, port: number, isReady: boolean): Pod => ({
    metadata: { name, namespace: 'default', uid: name },
    spec: { containers: [{ name: 'c', ports: [{ name: 'web', containerPort: port, protocol: 'TCP' }] }] },
    status: { podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  })
  const both = service({
    ports: [
      { name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' },
      { name: 'm', port: 9, targetPort: 9000, protocol: 'TCP' },
    ],
  })
  const pods = [at('a', '10.0.0.5', 80, false), at('b', '10.0.0.10', 80, true), at('c', '10.0.0.15', 81, true)]
  const shown = subsetsOf(both, pods).map(({ addresses = [], notReadyAddresses = [], ports = [] }) => [
    addresses.map(({ ip }) => ip),
    notReadyAddresses.map(({ ip }) => ip),
    ports.map(({ port }) => port),
  ])
  expect(shown).toEqual([
    [['10.0.0.10'], ['10.0.0.5'], [80]],
    [['10.0.0.10', '10.0.0.15'], ['10.0.0.5'], [9000]],
    [['10.0.0.15'], [], [81]],
  ])
})

describe('an address that a pod reports', () => {
  test.each([
    ['2001:db8:0:0::00A', 'IPv6', '2001:db8::a'],
    ['010.0.0.7', 'IPv4', '10.0.0.7'],
    ['::ffff:10.0.0.7', 'IPv4', '10.0.0.7'],
  ] as const)('%s is an endpoint of %s in its canonical spelling', (ip, family, expected) => {
    const reporting: Pod = {
      metadata: { name: 'a', namespace: 'default', uid: 'a' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
      status: { podIP: ip, podIPs: [{ ip }] },
    }
    const of = service({ ipFamilies: [family], ports: [{ port: 80 }] })
    expect(endpointOf(of, reporting, undefined, family)?.addresses).toEqual([expected])
    expect(endpointOf(of, reporting, undefined, family === 'IPv4' ? 'IPv6' : 'IPv4')).toBeUndefined()
    expect(subsetsOf(of, [reporting])[0]?.notReadyAddresses?.map((address) => address.ip)).toEqual([expected])
  })
})

test('a Service of many ports has the endpoints of fewer pods', () => {
  const ports = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `p${at}`, port: at + 1 }))
  expect([0, 1, 10, 20_000].map((count) => mostPods(service({ ports: ports(count) })))).toEqual([
    500_000, 500_000, 50_000, 25,
  ])
})
