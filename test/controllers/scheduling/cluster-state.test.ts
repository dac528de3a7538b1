// What the scheduler and simulated kubelets keep between two looks, filled with what a client may write.
import { expect, test, vi } from 'vitest'
import type { Node, Pod } from '../../../src/api/core/v1.ts'
import { clientsetFor } from '../../../src/controllers/client/clientset.ts'
import type { Changes } from '../../../src/controllers/client/resource-client.ts'
import { ClusterState } from '../../../src/controllers/scheduling/cluster-state.ts'
import { NodeState } from '../../../src/controllers/scheduling/node-state.ts'
import { KubeletState } from '../../../src/controllers/simulation/kubelet-state.ts'
import { NODES } from '../../../src/controllers/simulation/simulated-node.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'
import { plainPod } from '../plain-pod.ts'

const MIB = 1024 * 1024
// pods of any profile
const profiles = { has: () => true } as never

function changesOf<O extends Node | Pod>(
  objects: readonly (readonly [key: string, object: O | undefined])[],
): Changes<O> {
  const changed = objects.map(([key, object]) => ({ key, object, length: JSON.stringify(object ?? '').length }))
  return { revision: 1, reset: false, changed }
}
const times = <One>(count: number, make: (n: number) => One): One[] => Array.from({ length: count }, (_, n) => make(n))
const long = (length: number) => ({ annotations: { a: 'x'.repeat(length) } })
const node = (n: number, length = 0): [string, Node] => [
  `n${n}`,
  { metadata: { name: `n${n}`, ...long(length) }, status: { allocatable: { pods: '1000000' } } },
]
const pod = (n: number, on?: string, more: object = {}): [string, Pod] => [
  `a/p${n}`,
  {
    metadata: { name: `p${n}`, namespace: 'a', uid: `u${n}`, ...more },
    spec: { schedulerName: 'default-scheduler', ...(on && { nodeName: on }), containers: [{ name: 'c', image: 'i' }] },
    status: { startTime: '2026-01-01T00:00:00Z' },
  },
]
const labels = (count: number) => ({ labels: Object.fromEntries(times(count, (n) => [`label-${n}`, 'v'.repeat(60)])) })

test.each<[string, (state: ClusterState) => void]>([
  ['many pods', (state) => state.takePods(changesOf(times(20_100, (n) => pod(n, 'n0'))), profiles)],
  ['many that wait', (state) => state.takePods(changesOf(times(20_100, (n) => pod(n))), profiles)],
  ['large nodes', (state) => state.takeNodes(changesOf(times(30, (n) => node(n, MIB))))],
  [
    'large pods that wait',
    (state) => state.takePods(changesOf(times(40, (n) => pod(n, '', labels(10_000)))), profiles),
  ],
  [
    'pods with many labels',
    (state) => {
      for (let n = 0; n < 40; n++) state.takePods(changesOf([pod(n, 'n0', labels(10_000))]), profiles)
    },
  ],
])('the scheduler keeps nothing of %s, and no more than they are', (_, fill) => {
  const state = new ClusterState()
  state.takeNodes(changesOf([node(0)]))
  expect(state.isTooLarge).toBe(false)
  fill(state)
  expect(state.isTooLarge).toBe(true)
})

test('of large pods that wait the scheduler keeps what it reads', () => {
  const state = new ClusterState()
  state.takePods(changesOf(times(100, (n) => pod(n, '', long(MIB)))), profiles)
  expect([state.waiting.size, state.isTooLarge]).toEqual([100, false])
  const [waiting] = state.waiting.values()
  expect(waiting?.pod.metadata).toEqual({ name: 'p0', namespace: 'a', uid: 'u0', annotations: {} })
})

test('what is gone, bound, or was changed is counted once', () => {
  const state = new ClusterState()
  for (let round = 0; round < 3; round++) {
    state.takeNodes(changesOf(times(5, (n) => node(n, MIB))))
    state.takePods(changesOf(times(5, (n) => pod(n, '', { finalizers: ['x'.repeat(MIB)] }))), profiles)
  }
  expect(state.length).toBeGreaterThan(10 * MIB)
  expect(state.length).toBeLessThan(11 * MIB)
  for (const [key, waiting] of [...state.waiting]) state.nominate(key, waiting, 'n1')
  expect(state.length).toBeLessThan(11 * MIB)
  for (const [key, { info }] of [...state.waiting]) state.assign(key, info, 'n1')
  expect(state.length).toBeLessThan(6 * MIB)
  state.takePods(changesOf<Pod>(times(5, (n): [string, undefined] => [`a/p${n}`, undefined])), profiles)
  state.takeNodes(changesOf<Node>(times(5, (n): [string, undefined] => [`n${n}`, undefined])))
  expect(state.length).toBe(0)
})

test.each<[string, (state: KubeletState) => void]>([
  ['many pods', (state) => times(50_100, (n) => state.putPod(...pod(n, 'n0')))],
  ['large nodes', (state) => void state.takeNodes(changesOf(times(30, (n) => node(n, MIB))), () => true)],
  [
    'pods with many ports',
    (state) =>
      times(80, (n) => {
        const [key, one] = pod(n, 'n0')
        const ports = times(20_000, (at) => ({ hostPort: at + 1, containerPort: at + 1, hostIP: '192.168.100.100' }))
        state.putPod(key, { ...one, spec: { ...one.spec, containers: [{ name: 'c', image: 'i', ports }] } })
      }),
  ],
])('the kubelets keep nothing of %s, and no more than they are', (_, fill) => {
  const state = new KubeletState()
  state.takeNodes(changesOf([node(0)]), () => true)
  expect(state.isTooLarge).toBe(false)
  fill(state)
  expect(state.isTooLarge).toBe(true)
  state.takeNodes(changesOf<Node>(times(30, (n): [string, undefined] => [`n${n}`, undefined])), () => true)
  expect(state.length).toBe(0)
})

test('where too much is there to be kept, pods are bound and run all the same', async () => {
  const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  const clients = clientsetFor(await plane.context(), 'somebody')
  for (let n = 0; n < 30; n++) {
    const metadata = {
      name: `n${n}`,
      labels: { 'kedge.dev/simulated': 'true' },
      annotations: { a: 'x'.repeat(200_000) },
    }
    // annotations of an object are 256 KiB; a status has no such limit
    const images = times(700, (at) => ({ names: [`${at}`.padEnd(1_000, 'x')] }))
    const made = await clients.resource(NODES).create({ kind: 'Node', apiVersion: 'v1', metadata })
    await clients.resource(NODES).putStatus({ ...made, status: { ...made.status, images } })
  }
  await plane.settle()
  for (const name of ['first', 'second']) await clients.resource(PODS, 'default').create(plainPod(name))
  await plane.settle()
  await plane.pass(20_000)
  for (const name of ['first', 'second'])
    expect((await clients.resource(PODS, 'default').get(name))?.status?.phase).toBe('Running')
})

test('whoever waits has a turn before one that fits nowhere has another', () => {
  const state = new ClusterState()
  const urgent = (n: number): [string, Pod] => {
    const [key, { spec, ...more }] = pod(n)
    return [key, { ...more, spec: { ...spec, priority: n < 3 ? 9 : 0 } }]
  }
  state.takePods(changesOf(times(5, urgent)), profiles)
  const next = () =>
    state.next([...state.waiting], 2).map(([, waiting]) => {
      state.begin(waiting)
      return waiting.pod.metadata.name
    })
  // all of them are due again and again
  expect(times(4, next)).toEqual([['p0', 'p1'], ['p2', 'p3'], ['p4'], ['p0', 'p1']])
  expect(state.next([...state.waiting], 9).map(([key]) => key)).toEqual(times(5, (n) => `a/p${n}`))
})

test('a run without time for all of its pods leaves the others to the next one, which tries them first', () => {
  const state = new ClusterState()
  state.takePods(changesOf(times(3, (n) => pod(n))), profiles)
  const due = () => state.next([...state.waiting], 9)
  const [first] = due()
  state.begin(first![1])
  state.fallBehind()
  // all of them are due again
  expect(due().map(([key]) => key)).toEqual(['a/p1', 'a/p2'])
  expect(due().map(([key]) => key)).toEqual(['a/p0', 'a/p1', 'a/p2'])
})

test('a node that changes keeps its pods, and nobody goes through them', () => {
  const state = new ClusterState()
  state.takeNodes(changesOf([node(0)]))
  state.takePods(changesOf(times(3, (n) => pod(n, 'n0'))), profiles)
  const [before] = state.all
  const add = vi.spyOn(NodeState.prototype, 'add')
  state.takeNodes(changesOf([node(0, 10)]))
  expect(add).not.toHaveBeenCalled()
  const [now] = state.all
  expect(now).not.toBe(before)
  expect([...now!.pods.values()].map(({ name }) => name)).toEqual(['p0', 'p1', 'p2'])
})

test('a node that was kept for a pod is free when the pod is gone, or goes elsewhere', () => {
  const state = new ClusterState()
  state.takeNodes(changesOf([node(0), node(1)]))
  const kept = (n: string, resourceVersion: string): [string, Pod] => {
    const [key, { metadata, status, ...more }] = pod(0)
    return [key, { ...more, metadata: { ...metadata, resourceVersion }, status: { ...status, nominatedNodeName: n } }]
  }
  const isFreed = (...to: (readonly [string, Pod | undefined])[]) => {
    state.takeEvents()
    state.takePods(changesOf<Pod>(to), profiles)
    return state.takeEvents().events.has('AssignedPodGone')
  }
  expect(isFreed(kept('n0', '1'))).toBe(false)
  expect(isFreed(kept('n0', '2'))).toBe(false)
  expect(isFreed(kept('n1', '3'))).toBe(true)
  expect(isFreed(['a/p0', undefined])).toBe(true)
})
