/** Pods that somebody binds to simulated nodes by hand, and what their kubelets say to that. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Event, Node, Pod, PodSpec } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { Clientset } from '../../../src/controllers/client/clientset.ts'
import { clientsetFor, typedResource } from '../../../src/controllers/client/clientset.ts'
import { NODES } from '../../../src/controllers/simulation/simulated-node.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { ControlPlaneInMemory, EVENTS } from '../control-plane.ts'
import { named, ResourceClient } from '../../../src/controllers/client/resource-client.ts'
import { StatusError } from '../../../src/api/status.ts'

const STATEFUL_SETS = typedResource('apps', 'statefulsets')

let plane: ControlPlaneInMemory
let clients: Clientset
beforeEach(async () => {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  clients = clientsetFor(await plane.context(), 'somebody')
  const labels = { 'kedge.dev/simulated': 'true' }
  await clients.resource(NODES).create({ kind: 'Node', apiVersion: 'v1', metadata: { name: 'node-1', labels } })
  await plane.settle()
})

afterEach(() => vi.restoreAllMocks())

const pods = () => clients.resource(PODS, 'default')

async function bind(name: string, spec: PodSpec = {}, labels: Record<string, string> = {}): Promise<Pod> {
  await pods().create({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default', labels },
    spec: {
      nodeName: 'node-1',
      serviceAccountName: 'default',
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i' }],
      ...spec,
    },
  })
  await plane.settle()
  return (await pods().get(name))!
}

const changeNode = async (change: (node: Node) => void, isStatus = false): Promise<void> => {
  const nodes = clients.resource(NODES)
  await (isStatus
    ? nodes.updateStatusWithRetries(named('node-1'), change)
    : nodes.updateWithRetries(named('node-1'), change))
  await plane.settle()
}

const asking = (requests: Record<string, string>): PodSpec => ({
  containers: [{ name: 'c', image: 'i', resources: { requests } }],
})
const withPort = (hostPort: number, hostIP?: string): PodSpec => ({
  containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort, ...(hostIP && { hostIP }) }] }],
})
const outcome = ({ status }: Pod) =>
  status?.phase === 'Failed' ? `${status.reason}: ${status.message}` : status?.phase

const told = async (name: string): Promise<string[]> => {
  const events = (await (await plane.client(EVENTS, 'default')).list()) as (KubeObject & Event)[]
  return events
    .filter((event) => event.involvedObject?.name === name)
    .map(({ reason, message }) => `${reason}: ${message}`)
}

describe('is refused', () => {
  test('a pod that asks for more than is left', async () => {
    expect(outcome(await bind('most', asking({ cpu: '7', memory: '1Gi' })))).toBe('Running')
    const refused = await bind('more', asking({ cpu: '1500m' }))
    expect(refused.status).toEqual({
      phase: 'Failed',
      reason: 'OutOfcpu',
      message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 1500, used: 7000, capacity: 8000",
      qosClass: 'Burstable',
      startTime: '2026-01-01T00:00:00Z',
      observedGeneration: 1,
    })
    const events = (await (await plane.client(EVENTS, 'default')).list()) as (KubeObject & Event)[]
    expect(events.filter(({ involvedObject }) => involvedObject?.name === 'more')).toMatchObject([
      {
        type: 'Warning',
        reason: 'OutOfcpu',
        message: "Node didn't have enough resource: cpu, requested: 1500, used: 7000, capacity: 8000",
        source: { host: 'node-1' },
      },
    ])
    // garbage of pods, which looks at each node that somebody binds to by hand
    expect(plane.waiting).toEqual(['pod-gc node-1 in 40000'])
  })

  test.each<[string, PodSpec, string]>([
    [
      'memory',
      asking({ memory: '64Gi' }),
      "OutOfmemory: Pod was rejected: Node didn't have enough resource: memory, requested: 68719476736, used: 0, capacity: 34359738368",
    ],
    [
      'huge pages',
      {
        containers: [
          {
            name: 'c',
            image: 'i',
            resources: { requests: { cpu: '1', 'hugepages-2Mi': '2Mi' }, limits: { 'hugepages-2Mi': '2Mi' } },
          },
        ],
      },
      "OutOfhugepages-2Mi: Pod was rejected: Node didn't have enough resource: hugepages-2Mi, requested: 2097152, used: 0, capacity: 0",
    ],
    [
      'another node',
      { nodeSelector: { disk: 'fast' } },
      "NodeAffinity: Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ],
    [
      'another system',
      { os: { name: 'windows' } },
      "PodOSNotSupported: Pod was rejected: Failed to admit pod as the OS field doesn't match node OS",
    ],
  ])('a pod that wants %s', async (_, spec, expected) => {
    expect(outcome(await bind('p', spec))).toBe(expected)
  })

  test('a pod that is labelled for another system', async () => {
    expect(outcome(await bind('p', {}, { 'kubernetes.io/os': 'windows' }))).toBe(
      "PodOSSelectorNodeLabelDoesNotMatch: Pod was rejected: Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    )
  })

  test('one pod too many', async () => {
    await changeNode(({ status = {} }) => void (status.allocatable = { ...status.allocatable, pods: '1' }), true)
    expect(outcome(await bind('first'))).toBe('Running')
    expect(outcome(await bind('second'))).toBe(
      "OutOfpods: Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1",
    )
  })

  test('a pod whose node is tainted against it', async () => {
    await changeNode(({ spec = {} }) => void (spec.taints = [{ key: 'k', effect: 'NoExecute' }]))
    await bind('p')
    expect(await told('p')).toContain(
      "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    )
    expect(outcome(await bind('q', { tolerations: [{ operator: 'Exists' }] }))).toBe('Running')
  })

  test.each<[string, PodSpec]>([
    ['on each address', withPort(8080)],
    ['on the same address', withPort(8080, '10.0.0.1')],
  ])('a pod whose port is taken %s', async (_, spec) => {
    await bind('first', spec)
    expect(outcome(await bind('second', withPort(8080, '10.0.0.1')))).toBe(
      "NodePorts: Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    )
    expect(outcome(await bind('other', withPort(8081)))).toBe('Running')
  })
})

describe('is taken in', () => {
  test('what fits when others went, or are over', async () => {
    await bind('first', { ...asking({ cpu: '8' }), restartPolicy: 'Never' })
    expect(outcome(await bind('second', asking({ cpu: '1' })))).toMatch('OutOfcpu')
    await pods().updateStatusWithRetries(named('first'), ({ status = {} }) => void (status.phase = 'Succeeded'))
    await plane.settle()
    expect(outcome(await bind('third', asking({ cpu: '8' })))).toBe('Running')
    await pods().delete(named('third'), { gracePeriodSeconds: 0 })
    await plane.settle()
    expect(outcome(await bind('fourth', asking({ cpu: '8' })))).toBe('Running')
  })

  test('an extended resource that the node does not know', async () => {
    const amounts = { 'example.com/licence': '1' }
    const spec = { containers: [{ name: 'c', image: 'i', resources: { requests: amounts, limits: amounts } }] }
    expect(outcome(await bind('p', spec))).toBe('Running')
  })

  test('a pod that runs, when its node is smaller later', async () => {
    await bind('p', asking({ cpu: '6' }))
    await changeNode(({ status = {} }) => void (status.allocatable = { ...status.allocatable, cpu: '1' }), true)
    await plane.pass(60_000)
    expect(outcome((await pods().get('p'))!)).toBe('Running')
  })
})

test('what is made again for a refused pod is refused more and more slowly, until there is room', async () => {
  await bind('first', withPort(8080))
  const labels = { app: 'web' }
  await (
    await plane.client(STATEFUL_SETS, 'default')
  ).create({
    kind: 'StatefulSet',
    apiVersion: 'apps/v1',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      serviceName: 'web',
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { nodeName: 'node-1', automountServiceAccountToken: false, ...withPort(8080) },
      },
    },
  } as KubeObject)
  const uids = new Set<string | undefined>()
  const look = async () => void uids.add((await pods().get('web-0'))?.metadata.uid)
  await plane.settle()
  await look()
  for (let second = 0; second < 60; second++) {
    await plane.pass(1_000)
    await look()
  }
  expect(uids.size).toBeGreaterThan(2)
  expect(uids.size).toBeLessThan(9)
  expect(outcome((await pods().get('web-0'))!)).toBe('Pending')
  await pods().delete(named('first'), { gracePeriodSeconds: 0 })
  await plane.settle()
  expect(outcome((await pods().get('web-0'))!)).toBe('Running')
})

describe('a critical pod makes room', () => {
  const critical = (requests: Record<string, string>, name = 'system-node-critical'): PodSpec => ({
    ...asking(requests),
    priorityClassName: name,
  })
  const exactly = (cpu: string, memory: string): PodSpec => ({
    containers: [{ name: 'c', image: 'i', resources: { requests: { cpu, memory }, limits: { cpu, memory } } }],
  })
  const running = async (): Promise<string[]> =>
    (await pods().list()).filter(({ status }) => status?.phase === 'Running').map(({ metadata }) => metadata.name ?? '')

  test('with the one that leaves least missing, and tells it so', async () => {
    await bind('small', asking({ cpu: '1' }))
    await bind('fits', asking({ cpu: '3' }))
    await bind('large', asking({ cpu: '4' }))
    const pod = await bind('critical', critical({ cpu: '3' }))
    expect(outcome(pod)).toBe('Running')
    expect(await running()).toEqual(['critical', 'large', 'small'])
    const victim = await pods().get('fits')
    expect(victim?.status).toMatchObject({
      phase: 'Failed',
      reason: 'Preempting',
      message: 'Preempted in order to admit critical pod',
      containerStatuses: [{ ready: false, state: { terminated: { exitCode: 137, reason: 'Error' } } }],
    })
    expect(victim?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')).toEqual({
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'TerminationByKubelet',
      message: 'Pod was preempted by Kubelet to accommodate a critical pod.',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })
    expect(await told('fits')).toEqual(['Preempting: Preempted in order to admit critical pod'])
    expect(await told('critical')).toEqual([])
  })

  test('with Guaranteed ones last, and as few as possible', async () => {
    await bind('guaranteed', exactly('4', '1Gi'))
    await bind('burstable', asking({ cpu: '2' }))
    await bind('other', asking({ cpu: '2' }))
    expect(outcome(await bind('critical', critical({ cpu: '4' })))).toBe('Running')
    expect(await running()).toEqual(['critical', 'guaranteed'])
  })

  test('of pods, when the node has no place for one more', async () => {
    await changeNode(({ status = {} }) => (status.allocatable = { ...status.allocatable, pods: '2' }), true)
    await bind('best-effort')
    await bind('burstable', asking({ cpu: '1' }))
    expect(outcome(await bind('critical', critical({ cpu: '1' })))).toBe('Running')
    expect(await running()).toEqual(['burstable', 'critical'])
  })

  test('and takes nothing from those of its own priority, but from lesser critical ones', async () => {
    await bind('cluster', critical({ cpu: '8' }, 'system-cluster-critical'))
    expect(outcome(await bind('node', critical({ cpu: '8' })))).toBe('Running')
    expect(await running()).toEqual(['node'])
    const refused = await bind('again', critical({ cpu: '1' }))
    expect(outcome(refused)).toBe(
      'UnexpectedAdmissionError: Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 1000), ]',
    )
    expect(await running()).toEqual(['node'])
  })

  test.each([403, 404, 409, 503])('only when what has to go may go: a webhook says %i', async (code) => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await bind('small', asking({ cpu: '1' }))
    await bind('large', exactly('7', '1Gi'))
    const kept = ['putStatus', 'updateWithRetries'] as const
    const spies = kept.map((write) => {
      const proper = ResourceClient.prototype[write] as (...args: unknown[]) => Promise<unknown>
      const spy = vi.spyOn(ResourceClient.prototype as unknown as Record<typeof write, typeof proper>, write)
      return spy.mockImplementation(function (this: ResourceClient, ...args) {
        const [{ metadata }] = args as [KubeObject]
        if (metadata.name === 'large') return Promise.reject(new StatusError(code, undefined, 'no'))
        return proper.apply(this, args)
      })
    })
    expect(outcome(await bind('critical', critical({ cpu: '8' })))).toBe('Pending')
    expect(await running()).toEqual(['large'])
    expect(await told('large')).toEqual([])
    // its room is still its own, and what went has left some
    expect(outcome(await bind('other', asking({ cpu: '2' })))).toMatch('OutOfcpu')
    expect(outcome(await bind('fits', asking({ cpu: '1' })))).toBe('Running')
    for (const spy of spies) spy.mockRestore()
    await plane.pass(10_000)
    expect(await running()).toEqual(['critical'])
    expect(await told('large')).toEqual(['Preempting: Preempted in order to admit critical pod'])
  })

  test('although what has to go is changed meanwhile', async () => {
    const get = ResourceClient.prototype.get
    await bind('low', asking({ cpu: '8' }))
    const spy = vi.spyOn(ResourceClient.prototype, 'get').mockImplementation(async function (
      this: ResourceClient,
      name,
    ) {
      const found = await get.call(this, name)
      if (name !== 'low') return found
      spy.mockRestore()
      await pods().updateWithRetries(named('low'), ({ metadata }) => void (metadata.annotations = { changed: 'yes' }))
      return found
    })
    expect(outcome(await bind('critical', critical({ cpu: '8' })))).toBe('Running')
    expect(await running()).toEqual(['critical'])
  })

  test('for nobody who is refused for another reason', async () => {
    await bind('first', asking({ cpu: '8' }))
    const pod = await bind('critical', { ...critical({ cpu: '1' }), nodeSelector: { disk: 'ssd' } })
    expect(outcome(pod)).toContain('NodeAffinity: ')
    expect(await running()).toEqual(['first'])
  })
})
