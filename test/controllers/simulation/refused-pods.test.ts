/** What the API refuses of one simulated pod holds no other pod back. */
import { beforeEach, expect, test, vi } from 'vitest'
import type { Node, Pod } from '../../../src/api/core/v1.ts'
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import type { ControlPlaneInMemory } from '../control-plane.ts'
import { SimulatedPlane } from '../workloads/simulated-plane.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'
import { Script } from '../../../src/controllers/simulation/annotations.ts'
import { KubeletState } from '../../../src/controllers/simulation/kubelet-state.ts'
import { tenantReplaced } from '../../../src/tenancy/tenant-state.ts'
import type { Revision } from '../../../src/storage/storage.ts'

const PODS = { group: '', resource: 'pods' }
const NODES = { group: '', resource: 'nodes' }
/** The most bytes of an object. */
const LARGEST = 1.5 * 1024 * 1024

let simulated: SimulatedPlane
let plane: ControlPlaneInMemory

beforeEach(async () => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined)
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  simulated = await SimulatedPlane.start('n')
  ;({ plane } = simulated)
})

/** A pod that fits, but not with its status. */
async function largePod(name: string, spec: JsonObject = {}): Promise<void> {
  const containers = Array.from({ length: 40 }, (_, at) => ({ name: `c-${at}`, image: 'i' }))
  const make = (value: string) =>
    plane.create(PODS, {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name, namespace: 'default' },
      spec: { ...spec, containers: [{ name: 'c', image: 'i', env: [{ name: 'A', value }] }, ...containers] },
    })
  for (let spare = 2_000; ; spare += 2_000)
    try {
      return void (await make('x'.repeat(LARGEST - spare)))
    } catch (error) {
      if (spare > 40_000) throw error
    }
}

const phase = async (name: string) =>
  ((await plane.get(PODS, 'default', name)) as Pod | undefined)?.status?.phase ?? 'Pending'

test.each([
  ['whose node is gone', true, async () => plane.delete(NODES, '', 'n')],
  [
    'whose node has a taint',
    false,
    async () =>
      (await plane.client(NODES, '')).updateWithRetries(named('n'), (node) => {
        const { spec } = node as KubeObject & Node
        Object.assign(spec!, { taints: [{ key: 'bad', effect: 'NoExecute' }] })
      }),
  ],
])('a pod that has no room for a condition keeps no other pod %s', async (_, isTriedAgain, change) => {
  await largePod('a-large', { nodeName: 'n' })
  const toleration = { key: 'bad', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 }
  for (const [name, tolerations] of [
    ['now', []],
    ['soon', [toleration]],
  ] as const)
    await plane.create(PODS, {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name, namespace: 'default' },
      spec: { nodeName: 'n', tolerations: [...tolerations], containers: [{ name: 'c', image: 'i' }] },
    })
  await plane.settle()
  await change()
  // work that fails is tried again, later and later; evictions that have their time cannot wait for that
  let failures = 0
  for (let second = 0; second < 45; second++) await plane.pass(1_000).catch(() => failures++)
  expect(failures > 0).toBe(isTriedAgain)
  expect(await plane.names(PODS, 'default')).toEqual(['a-large'])
})

test('a pod whose status is too large is tried less and less often, and other pods start and end in time', async () => {
  await largePod('large')
  await plane.create(PODS, {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'small', namespace: 'default', annotations: { 'kedge.dev/duration': '30s' } },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
  })
  await plane.settle()
  expect([await phase('large'), await phase('small')]).toEqual(['Pending', 'Running'])
  await simulated.settled(31)
  expect([await phase('large'), await phase('small')]).toEqual(['Pending', 'Succeeded'])
  plane.tried.length = 0
  for (let minute = 0; minute < 60; minute++) await plane.pass(60_000)
  expect(plane.tried.filter((controller) => controller === 'simulated-pods').length).toBeLessThan(20)
  plane.tried.length = 0
  for (let minute = 0; minute < 120; minute++) await plane.pass(60_000)
  expect(plane.tried.filter((controller) => controller === 'simulated-pods').length).toBe(24)
})

test('a pod that this code fails at holds no other pod back, also when all are read again', async () => {
  vi.spyOn(Script.prototype, 'pullsFail').mockImplementation((container) => {
    if (container === 'bad') throw new RangeError('Invalid string length')
    return false
  })
  const create = (name: string, container: string) =>
    plane.create(PODS, {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name, namespace: 'default' },
      spec: { containers: [{ name: container, image: 'i' }] },
    })
  await create('a-bad', 'bad')
  await create('b', 'c')
  await plane.settle()
  expect([await phase('a-bad'), await phase('b')]).toEqual(['Pending', 'Running'])
  // as after a start
  tenantReplaced(plane.server.tenant)
  await create('c', 'c')
  await plane.settle()
  expect([await phase('a-bad'), await phase('c')]).toEqual(['Pending', 'Running'])
  plane.tried.length = 0
  for (let minute = 0; minute < 60; minute++) await plane.pass(60_000)
  expect(plane.tried.filter((controller) => controller === 'simulated-pods').length).toBeLessThan(20)
})

test('thousands of pods that are refused are tried less and less often, too', () => {
  const state = new KubeletState()
  const node: Node = { metadata: { name: 'n' } }
  state.takeNodes(
    { revision: 1 as Revision, reset: true, changed: [{ key: 'n', object: node, length: 1 }] },
    () => true,
  )
  const keys = Array.from({ length: 2_000 }, (_, at) => `default/p-${at}`)
  for (const key of keys) state.putPod(key, { metadata: {}, spec: { nodeName: 'n' } } as Pod)
  const pauses = [0, 10_000, 20_000].map((now) => {
    for (const key of keys) state.holdFailure(key, now)
    return state.nextDue()! - now
  })
  expect(pauses).toEqual([1_000, 2_000, 4_000])
})
