import { beforeEach, describe, expect, test } from 'vitest'
import type { Event, Node, Pod, Taint } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'
import { timeText } from '../../../src/schema/time.ts'

const PODS = { group: '', resource: 'pods' }
const NODES = { group: '', resource: 'nodes' }
const EVENTS = { group: '', resource: 'events' }
const LEASES = { group: 'coordination.k8s.io', resource: 'leases' }

let plane: ControlPlaneInMemory
beforeEach(() => {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'controllers' })
})

async function node(name: string, labels: Record<string, string> = {}): Promise<void> {
  await plane.create(NODES, { kind: 'Node', apiVersion: 'v1', metadata: { name, labels } })
  await post(name, 'True')
}

/** As a kubelet says it. */
async function post(name: string, status: string, type = 'Ready'): Promise<void> {
  const nodes = await plane.client(NODES, '')
  const lastHeartbeatTime = plane.now.toISOString().replace('.000', '')
  await nodes.updateStatusWithRetries(named(name), (live: KubeObject & Node) => {
    const others = (live.status?.conditions ?? []).filter((condition) => condition.type !== type)
    const condition = { type, status, lastHeartbeatTime, lastTransitionTime: lastHeartbeatTime }
    live.status = { ...live.status, conditions: [...others, condition] }
  })
  await plane.settle()
}

const nodeOf = async (name: string) => (await plane.get(NODES, '', name)) as KubeObject & Node
const taints = async (name: string) =>
  ((await nodeOf(name)).spec?.taints ?? []).map(({ key, effect }) => `${key?.split('/').pop()}:${effect}`).toSorted()
const ready = async (name: string) => {
  const condition = (await nodeOf(name)).status?.conditions?.find(({ type }) => type === 'Ready')
  return [condition?.status, condition?.reason, condition?.message]
}

describe('a node whose kubelet is silent', () => {
  test('becomes unknown after its grace, and its pods are not ready', async () => {
    await node('a')
    await node('b')
    const tolerations = [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }]
    const spec = { nodeName: 'a', tolerations, containers: [{ name: 'c', image: 'i' }] }
    await plane.create(PODS, { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'default' }, spec })
    const pods = await plane.client(PODS, 'default')
    await pods.updateStatusWithRetries(named('p'), (pod: KubeObject & Pod) => {
      pod.status = { ...pod.status, phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
    })
    await plane.pass(40_000)
    await post('b', 'True')
    expect(await ready('a')).toEqual(['True', undefined, undefined])
    await plane.pass(10_000)
    expect(await ready('a')).toEqual(['Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.'])
    expect([await taints('a'), await taints('b')]).toEqual([['unreachable:NoExecute', 'unreachable:NoSchedule'], []])
    expect(((await pods.get('p')) as Pod).status?.conditions).toMatchObject([{ type: 'Ready', status: 'False' }])
    await post('a', 'True')
    expect(await taints('a')).toEqual([])
  })

  test('its Lease is a heartbeat, too', async () => {
    await node('a')
    await plane.pass(30_000)
    await plane.create(LEASES, {
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      metadata: { name: 'a', namespace: 'kube-node-lease' },
      spec: { holderIdentity: 'a', renewTime: '2020-01-01T00:00:00.000000Z' },
    })
    await plane.settle()
    await plane.pass(49_000)
    expect((await ready('a'))[0]).toBe('True')
    await plane.pass(1_000)
    expect((await ready('a'))[0]).toBe('Unknown')
  })

  test('one that never said anything has a minute', async () => {
    await plane.create(NODES, { kind: 'Node', apiVersion: 'v1', metadata: { name: 'a' } })
    await plane.settle()
    await plane.pass(59_000)
    expect((await nodeOf('a')).status?.conditions).toBeUndefined()
    await plane.pass(1_000)
    expect(await ready('a')).toEqual(['Unknown', 'NodeStatusNeverUpdated', 'Kubelet never posted node status.'])
  })

  test('where all nodes are silent none is given up, until one is back', async () => {
    await node('a')
    await node('b')
    await plane.pass(50_000)
    expect([await taints('a'), await taints('b')]).toEqual([['unreachable:NoSchedule'], ['unreachable:NoSchedule']])
    await post('b', 'True')
    expect([await taints('a'), await taints('b')]).toEqual([['unreachable:NoExecute', 'unreachable:NoSchedule'], []])
  })

  test('a node that was given up gets its pods back when no node is left', async () => {
    await node('a')
    await node('b')
    await plane.pass(30_000)
    await post('b', 'True')
    await plane.pass(30_000)
    expect([await taints('a'), await taints('b')]).toEqual([['unreachable:NoExecute', 'unreachable:NoSchedule'], []])
    await plane.pass(30_000)
    expect([await taints('a'), await taints('b')]).toEqual([['unreachable:NoSchedule'], ['unreachable:NoSchedule']])
    await post('b', 'True')
    await plane.pass(10_000)
    expect([await taints('a'), await taints('b')]).toEqual([['unreachable:NoExecute', 'unreachable:NoSchedule'], []])
  })

  test('of one zone one in ten seconds is given up', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await node(name)
    for (const name of ['a', 'b']) await post(name, 'Unknown')
    const givenUp = async () =>
      (await Promise.all(['a', 'b'].map(taints))).filter((all) => all.includes('unreachable:NoExecute')).length
    expect(await givenUp()).toBe(1)
    await plane.pass(10_000)
    expect(await givenUp()).toBe(2)
  })

  test('where most of a small zone is ill no more are given up', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await node(name)
    for (const name of ['a', 'b', 'c']) await post(name, 'False')
    await plane.pass(30_000)
    const all = await Promise.all(['a', 'b', 'c'].map(taints))
    expect(all.filter((one) => one.includes('not-ready:NoExecute')).length).toBeLessThan(3)
  })
})

test('a node is told once when it comes, and when it goes', async () => {
  const told = async () =>
    (await (await plane.client(EVENTS, 'default')).list())
      .map((event) => event as KubeObject & Event)
      .map(({ involvedObject, reason, message, count }) => [involvedObject?.uid, reason, message, count])
  const registered = (uid = '') => [uid, 'RegisteredNode', 'Node a event: Registered Node a in Controller', 1]
  const removed = (uid = '') => [uid, 'RemovingNode', 'Node a event: Removing Node a from Controller', 1]
  await node('a')
  const { uid: first } = (await nodeOf('a')).metadata
  await plane.pass(10_000)
  await post('a', 'True')
  expect(await told()).toEqual([registered(first)])
  await (await plane.client(NODES, '')).delete(named('a'))
  await plane.settle()
  await node('a')
  const { uid: second } = (await nodeOf('a')).metadata
  const all = await told()
  expect(all).toHaveLength(3)
  expect(all).toEqual(expect.arrayContaining([registered(first), removed(first), registered(second)]))
})

test.each([
  ['Ready', 'False', ['not-ready:NoSchedule']],
  ['MemoryPressure', 'True', ['memory-pressure:NoSchedule']],
  ['DiskPressure', 'True', ['disk-pressure:NoSchedule']],
  ['PIDPressure', 'True', ['pid-pressure:NoSchedule']],
  ['NetworkUnavailable', 'True', ['network-unavailable:NoSchedule']],
  ['NetworkUnavailable', 'False', []],
])('%s %s taints', async (type, status, expected) => {
  await node('a')
  await post('a', status, type)
  expect(await taints('a')).toEqual(expected)
})

test('a node that is cordoned is tainted until it is not, also a simulated one, which has no heartbeat', async () => {
  await node('a', { 'kedge.dev/simulated': 'true' })
  const nodes = await plane.client(NODES, '')
  const cordon = async (unschedulable: boolean) => {
    await nodes.updateWithRetries(
      named('a'),
      (live: KubeObject & Node) => (live.spec = { ...live.spec, unschedulable }),
    )
    await plane.settle()
    return taints('a')
  }
  expect(await cordon(true)).toEqual(['unschedulable:NoSchedule'])
  const [{ timeAdded }] = ((await nodes.get('a')) as Node).spec!.taints as [Taint]
  expect(timeAdded).toBe(timeText(plane.now))
  expect(await cordon(false)).toEqual([])
  await plane.pass(3_600_000)
  expect([await ready('a'), plane.waiting]).toEqual([['True', undefined, undefined], []])
})

test('the labels of a node have their former names, too', async () => {
  await node('a', { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'arm64', 'beta.kubernetes.io/arch': 'amd64' })
  await node('b', { 'beta.kubernetes.io/os': 'linux' })
  expect((await nodeOf('a')).metadata.labels).toEqual({
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'arm64',
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': 'arm64',
  })
  expect((await nodeOf('b')).metadata.labels).toEqual({ 'beta.kubernetes.io/os': 'linux' })
})
