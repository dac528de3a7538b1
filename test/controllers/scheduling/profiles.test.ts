/**
 * Puzzles for profiles of the scheduler: each has a configuration of its own, a few nodes, pods that run there, and a pod
 * that looks for its place. What is expected is what kube-scheduler 1.36.3 made of it with the same configuration.
 */
import { expect, test } from 'vitest'
import type { Node, Pod } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { clientsetFor, typedResource } from '../../../src/controllers/client/clientset.ts'
import { NODES } from '../../../src/controllers/simulation/simulated-node.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { podCondition } from '../../../src/controllers/workloads/pods/pod-state.ts'
import { ControlPlaneInMemory, EVENTS } from '../control-plane.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'
import puzzles from './puzzles.json' with { type: 'json' }

const SERVICES = typedResource('', 'services')
const PRIORITIES = typedResource('scheduling.k8s.io', 'priorityclasses')

interface Puzzle {
  readonly name: string
  readonly profile: object
  readonly nodes: readonly {
    readonly name: string
    readonly labels: Record<string, string>
    readonly spec: object
    readonly allocatable: object
    readonly images?: readonly object[]
  }[]
  readonly services?: readonly Record<string, string>[]
  readonly there: readonly { readonly labels?: Record<string, string>; readonly spec: object }[]
  readonly labels?: Record<string, string>
  readonly pod: object
  readonly expected: { readonly node?: string; readonly message?: string; readonly nominated?: string }
}

const settings = (profiles: readonly object[]) => ({
  KEDGE_WORKLOADS: 'simulated',
  // pods on nodes that nobody keeps
  KEDGE_CONTROLLERS: 'kube-scheduler',
  KEDGE_SCHEDULER_CONFIG: JSON.stringify({
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    profiles,
  }),
})

async function planeWith(profiles: readonly object[]) {
  const plane = new ControlPlaneInMemory(settings(profiles))
  const clients = clientsetFor(await plane.context(), 'somebody')
  const create = async (resource: Parameters<typeof clients.resource>[0], object: object, namespace = '') => {
    await clients.resource(resource, namespace).create(object as KubeObject) // of that resource
    await plane.settle()
  }
  const addNode = async ({ name, labels, spec, allocatable, images }: Puzzle['nodes'][number]) => {
    const status = { allocatable, capacity: allocatable, conditions: [{ type: 'Ready', status: 'True' }], images }
    await create(NODES, { kind: 'Node', apiVersion: 'v1', metadata: { name, labels }, spec, status })
    await clients.resource(NODES).updateWithRetries(named(name), (node: Node) => {
      const taints = node.spec?.taints?.filter(({ key }) => key !== 'node.kubernetes.io/not-ready')
      node.spec = { ...node.spec, taints: taints ?? [] }
    })
    await plane.settle()
  }
  const addPod = async (name: string, labels: Record<string, string> | undefined, spec: object) =>
    create(
      PODS,
      {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: { name, namespace: 'default', labels },
        spec: { serviceAccountName: 'default', automountServiceAccountToken: false, ...spec },
      },
      'default',
    )
  const pod = async (): Promise<Pod | undefined> => clients.resource(PODS, 'default').get('pod')
  const events = async () =>
    (await clients.resource({ ...EVENTS }, 'default').list()).filter(
      (event) => (event as { involvedObject?: { name?: string } }).involvedObject?.name === 'pod',
    )
  return { plane, clients, create, addNode, addPod, pod, events }
}

// JSON of that kind
const all = puzzles as unknown as readonly Puzzle[]

test.each(all)(
  'as with kube-scheduler: $name',
  async ({ profile, nodes, services = [], there, labels, pod, expected }) => {
    const world = await planeWith([{ schedulerName: 'ours', ...profile }])
    await world.create(PRIORITIES, { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1000 }) // prettier-ignore
    for (const [index, selector] of services.entries()) {
      const spec = { selector, ports: [{ port: 80 }] }
      await world.create(SERVICES, { apiVersion: 'v1', kind: 'Service', metadata: { name: `s${index}`, namespace: 'default' }, spec }, 'default') // prettier-ignore
    }
    for (const node of nodes) await world.addNode(node)
    for (const [index, one] of there.entries()) await world.addPod(`t${index}`, one.labels, one.spec)
    await world.addPod('pod', labels, { ...pod, schedulerName: 'ours' })
    const outcome = await world.pod()
    const node = outcome?.spec?.nodeName
    const refusal = outcome && podCondition(outcome, 'PodScheduled')
    const nominated = outcome?.status?.nominatedNodeName
    expect(node === undefined ? { message: refusal?.message, ...(nominated && { nominated }) } : { node }).toEqual(
      expected,
    )
    expect(await world.events()).toMatchObject([
      {
        reportingComponent: 'ours',
        reportingInstance: 'ours-kedge',
        reason: node === undefined ? 'FailedScheduling' : 'Scheduled',
      },
    ])
  },
)

test('a pod goes by the profile that it names, and who names none that is there waits for another scheduler', async () => {
  const packs = {
    schedulerName: 'packs',
    plugins: { score: { disabled: [{ name: '*' }], enabled: [{ name: 'NodeResourcesFit' }] } },
    pluginConfig: [{ name: 'NodeResourcesFit', args: { scoringStrategy: { type: 'MostAllocated' } } }],
  }
  const world = await planeWith([packs, { schedulerName: 'spreads' }])
  const asking = (schedulerName: string) => ({
    schedulerName,
    containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1', memory: '1Gi' } } }],
  })
  for (const name of ['a', 'b'])
    await world.addNode({ name, labels: {}, spec: {}, allocatable: { cpu: '8', memory: '8Gi', pods: '10' } })
  await world.addPod('first', undefined, { ...asking('nobody'), nodeName: 'b' })
  const placed: Record<string, string | undefined> = {}
  for (const scheduler of ['packs', 'spreads', 'default-scheduler', 'constructor']) {
    await world.addPod(scheduler, undefined, asking(scheduler))
    placed[scheduler] = (await world.clients.resource(PODS, 'default').get(scheduler))?.spec?.nodeName
  }
  expect(placed).toEqual({ packs: 'b', spreads: 'a', 'default-scheduler': undefined, constructor: undefined })
  const events = (await world.clients.resource({ ...EVENTS }, 'default').list()) as { reportingComponent?: string }[]
  expect(events.map(({ reportingComponent }) => reportingComponent).sort()).toEqual(['packs', 'spreads'])
})
