import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Event, Node, Pod, Taint, Toleration } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { ControlPlaneInMemory, EVENTS } from '../control-plane.ts'
import { named, ResourceClient } from '../../../src/controllers/client/resource-client.ts'
import { StatusError } from '../../../src/api/status.ts'

const PODS = { group: '', resource: 'pods' }
const NODES = { group: '', resource: 'nodes' }
const BAD: Taint = { key: 'bad', value: 'yes', effect: 'NoExecute' }

let plane: ControlPlaneInMemory
beforeEach(async () => {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  const metadata = { name: 'n', labels: { 'kedge.dev/simulated': 'true' } }
  await plane.create(NODES, { kind: 'Node', apiVersion: 'v1', metadata })
  await plane.settle()
})

afterEach(() => vi.restoreAllMocks())

async function pod(name: string, tolerations: Toleration[]): Promise<void> {
  const spec = { nodeName: 'n', tolerations, containers: [{ name: 'c', image: 'i' }] }
  const metadata = { name, namespace: 'default' }
  await plane.create(PODS, { kind: 'Pod', apiVersion: 'v1', metadata, spec } as never)
  await plane.settle()
}

async function taint(...taints: Taint[]): Promise<void> {
  const nodes = await plane.client(NODES, '')
  await nodes.updateWithRetries(named('n'), (node: KubeObject & Node) => (node.spec = { ...node.spec, taints }))
  await plane.settle()
}

const tolerating = (tolerationSeconds?: number): Toleration[] => [
  {
    key: 'bad',
    operator: 'Exists',
    effect: 'NoExecute',
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
  },
]
const names = () => plane.names(PODS, 'default')
const said = async () =>
  (await (await plane.client(EVENTS, 'default')).list())
    .map((event) => event as KubeObject & Event)
    .filter(({ reason }) => reason === 'TaintManagerEviction')
    .map(({ message }) => message)

test('pods leave at once, after their time, or never', async () => {
  await pod('none', [])
  await pod('soon', tolerating(60))
  await pod('later', [...tolerating(600), ...tolerating(90)])
  await pod('zero', tolerating(0))
  await pod('ever', tolerating())
  await taint(BAD)
  expect(await names()).toEqual(['ever', 'later', 'soon'])
  await plane.pass(59_000)
  expect(await names()).toEqual(['ever', 'later', 'soon'])
  await plane.pass(1_000)
  expect(await names()).toEqual(['ever', 'later'])
  expect((await said()).toSorted()).toEqual(
    ['none', 'soon', 'zero'].map((name) => `Marking for deletion Pod default/${name}`),
  )
})

test('a taint that goes takes the eviction back, and time begins anew', async () => {
  await pod('soon', tolerating(60))
  await taint(BAD)
  await plane.pass(50_000)
  await taint()
  expect(await said()).toEqual(['Cancelling deletion of Pod default/soon'])
  await taint(BAD)
  await plane.pass(50_000)
  expect(await names()).toEqual(['soon'])
  await plane.pass(10_000)
  expect(await names()).toEqual([])
})

test('a further taint does not begin the time anew', async () => {
  await pod('soon', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }])
  await taint(BAD)
  await plane.pass(50_000)
  await taint(BAD, { key: 'worse', effect: 'NoExecute' })
  await plane.pass(10_000)
  expect(await names()).toEqual([])
})

const forEver: Toleration = { key: 'dedicated', operator: 'Exists', effect: 'NoExecute' }
const DEDICATED: Taint = { key: 'dedicated', effect: 'NoExecute' }
const WORSE: Taint = { key: 'worse', effect: 'NoExecute' }

test('the time for a taint does not count from a taint that the pod tolerates for ever', async () => {
  await pod('soon', [forEver, ...tolerating(60)])
  await taint(DEDICATED)
  await plane.pass(600_000)
  await taint(DEDICATED, BAD)
  expect(await names()).toEqual(['soon'])
  await plane.pass(59_000)
  expect(await names()).toEqual(['soon'])
  await plane.pass(1_000)
  expect(await names()).toEqual([])
})

test('a planned eviction keeps its time, whichever taint comes beside or instead of the first', async () => {
  const worse = (tolerationSeconds: number): Toleration => ({ ...WORSE, operator: 'Exists', tolerationSeconds })
  await pod('soon', [...tolerating(100), worse(10)])
  await pod('later', [...tolerating(100), worse(600)])
  await taint(BAD)
  await plane.pass(50_000)
  await taint(BAD, WORSE)
  await plane.pass(20_000)
  await taint(WORSE)
  await plane.pass(29_000)
  expect(await names()).toEqual(['later', 'soon'])
  await plane.pass(1_000)
  expect(await names()).toEqual([])
})

test('a pod whose planned eviction comes at once, because of another taint, is told both', async () => {
  await pod('soon', tolerating(60))
  await taint(BAD)
  await taint(BAD, WORSE)
  expect(await names()).toEqual([])
  expect(await said()).toEqual(['Cancelling deletion of Pod default/soon', 'Marking for deletion Pod default/soon'])
})

test('taints that come and go without end are remembered in bounds, and the first time counts', async () => {
  await pod(
    'soon',
    tolerating(60_000).map((one) => ({ ...one, key: '', operator: 'Exists' })),
  )
  for (let n = 0; n < 100; n++) {
    await taint({ ...BAD, value: `v${n}` })
    await plane.pass(1_000)
  }
  expect(plane.sightings.get('taints/n')!.record.length).toBeLessThan(4_000)
  await plane.pass(60_000_000 - 101_000)
  expect(await names()).toEqual(['soon'])
  await plane.pass(1_000)
  expect(await names()).toEqual([])
})

test('a pod that comes later has its own time', async () => {
  await taint(BAD)
  await plane.pass(50_000)
  await pod('soon', tolerating(60))
  await plane.pass(50_000)
  expect(await names()).toEqual(['soon'])
  await plane.pass(10_000)
  expect(await names()).toEqual([])
})

test('the condition says why, since the pod became a target, and the Event names the pod alone', async () => {
  const metadata = { name: 'held', namespace: 'default', finalizers: ['example.com/held'] }
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] }
  await plane.create(PODS, { kind: 'Pod', apiVersion: 'v1', metadata, spec } as never)
  await plane.settle()
  const since = '2025-12-31T23:59:30Z'
  await (
    await plane.client(PODS, 'default')
  ).updateStatusWithRetries(named('held'), (pod: KubeObject & Pod) => {
    const target = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'EvictionByEvictionAPI',
      lastTransitionTime: since,
    }
    pod.status = { ...pod.status, conditions: [target, ...(pod.status?.conditions ?? [])] }
  })
  await taint(BAD)
  const held = (await plane.get(PODS, 'default', 'held')) as unknown as { status: { conditions: object[] } }
  expect(held.status.conditions).toContainEqual(
    expect.objectContaining({
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: since,
    }),
  )
  const events = (await (await plane.client(EVENTS, 'default')).list()) as (KubeObject & Event)[]
  const [event] = events.filter(({ reason }) => reason === 'TaintManagerEviction')
  expect(event?.involvedObject).toEqual({ kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: 'held' })
})

test('taints of other effects evict nobody, and nothing waits', async () => {
  await pod('none', [])
  await taint({ ...BAD, effect: 'NoSchedule' })
  expect([await names(), plane.sightings.get('taints/n')]).toEqual([['none'], undefined])
})

test.each([403, 404, 409, 503, 599])('a pod whose end is refused with %i holds up no other', async (code) => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const { delete: proper } = ResourceClient.prototype
  const spy = vi.spyOn(ResourceClient.prototype, 'delete').mockImplementation(function (this: ResourceClient, ...args) {
    const isFirst = 'metadata' in args[0] && args[0].metadata.name === 'first'
    return isFirst ? Promise.reject(new StatusError(code, undefined, 'refused')) : proper.apply(this, args)
  })
  await pod('first', tolerating(60))
  await pod('second', tolerating(60))
  await taint(BAD)
  await plane.pass(60_000)
  expect(await names()).toEqual(['first'])
  spy.mockRestore()
  await plane.pass(300_000)
  expect(await names()).toEqual([])
})
