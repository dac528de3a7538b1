import { describe, expect, test, vi } from 'vitest'
import { atOnce } from '../../../src/base/slices.ts'
import type { Node, Pod, PodSpec } from '../../../src/api/core/v1.ts'
import { CycleWork } from '../../../src/controllers/scheduling/cycle-work.ts'
import { RunningTerms } from '../../../src/controllers/scheduling/running-terms.ts'
import { NodeState } from '../../../src/controllers/scheduling/node-state.ts'
import { PodInfo } from '../../../src/controllers/scheduling/pod-info.ts'
import { DeviceFacts } from '../../../src/controllers/scheduling/devices/device-facts.ts'
import { defaultScheduler } from '../../../src/configuration/scheduler/configuration.ts'
import { afterFilters } from '../../../src/controllers/scheduling/post-filter.ts'
import { profileOf } from '../../../src/controllers/scheduling/profile.ts'
import { VolumeFacts } from '../../../src/controllers/scheduling/volume-facts.ts'
import type { Search } from '../../../src/controllers/scheduling/schedule.ts'
import { filtersFor } from './filters-for.ts'
import { choose, failureMessage, Filters } from '../../../src/controllers/scheduling/schedule.ts'

interface Given {
  readonly labels?: Record<string, string>
  readonly spec?: Node['spec']
  readonly cpu?: string
  readonly memory?: string
  readonly pods?: readonly Pod[]
  readonly declaredFeatures?: string[]
}

function node(
  name: string,
  { labels = {}, spec = {}, cpu = '4', memory = '8Gi', pods = [], declaredFeatures = [] }: Given = {},
): NodeState {
  const state = new NodeState({
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: { allocatable: { cpu, memory, pods: '3' }, declaredFeatures },
  })
  for (const [at, there] of pods.entries())
    state.add(new PodInfo({ ...there, metadata: { ...there.metadata, uid: `${name}-${at}` } }))
  return state
}

const pod = (spec: PodSpec = {}, labels: Record<string, string> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'default', labels },
  spec: { containers: [{ name: 'c' }], ...spec },
})

const asking = (cpu: string): Pod => pod({ containers: [{ name: 'c', resources: { requests: { cpu } } }] })
const onPort = (hostPort: number): Pod => pod({ containers: [{ name: 'c', ports: [{ containerPort: 1, hostPort }] }] })
const restartingAll = pod({
  containers: [
    {
      name: 'c',
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
    },
  ],
})
/** The pod itself asks for one core, and its node has not taken back the other two yet. */
const shrinking: Pod = {
  ...pod({ resources: { requests: { cpu: '1' } } }),
  status: { resources: { requests: { cpu: '3' } } },
}
const web = { app: 'web' }
const beside = { labelSelector: { matchLabels: web }, topologyKey: 'kubernetes.io/hostname' }

const defaultProfile = profileOf(defaultScheduler.profiles[0]!)

async function outcome(wanted: Pod, nodes: readonly NodeState[]): Promise<string> {
  const filters = filtersFor(wanted, nodes)
  const choice = atOnce(choose(filters))
  if ('node' in choice) return choice.node.name
  if (nodes.length === 0) return failureMessage(choice, '')
  const after = await afterFilters(filters, choice, wanted, {
    budgets: () => Promise.resolve([]),
    inSteps: (work) => Promise.resolve(atOnce(work)),
    release: () => undefined,
    delete: () => undefined,
  })
  return failureMessage(choice, 'message' in after ? after.message : '')
}

const none = (listed: string, preemption: string, of = 1) =>
  `0/${of} nodes are available: ${listed}. no new claims to deallocate, preemption: 0/${of} nodes are available: ${preemption}.`
const NOT_HELPFUL = 'Preemption is not helpful for scheduling'
const NO_VICTIMS = 'No preemption victims found for incoming pod'

describe('a pod', () => {
  const taint = { key: 'k', value: 'v', effect: 'NoSchedule' }
  test.each<[string, Pod, readonly NodeState[], string]>([
    ['goes to a node', pod(), [node('a')], 'a'],
    ['does not go where there are none', pod(), [], 'no nodes available to schedule pods'],
    ['goes where more is free', asking('1'), [node('a', { pods: [asking('2')] }), node('b')], 'b'],
    [
      'goes where more is free for its containers, whatever it asks for itself',
      pod({ resources: { requests: { cpu: '1', memory: '1Gi' } } }),
      [node('a', { cpu: '1500m', pods: [pod(), pod()] }), node('b', { cpu: '1500m', memory: '2Gi' })],
      'b',
    ],
    ['needs its cpu', asking('3'), [node('a', { pods: [asking('2')] })], none('1 Insufficient cpu', `1 ${NO_VICTIMS}`)],
    ['is larger than a node', asking('5'), [node('a')], none('1 Insufficient cpu', `1 ${NOT_HELPFUL}`)],
    ['needs a place', pod(), [node('a', { pods: [pod(), pod(), pod()] })], none('1 Too many pods', `1 ${NO_VICTIMS}`)],
    [
      'needs a feature of its kubelet',
      restartingAll,
      [node('a', { declaredFeatures: ['Other'] })],
      none("1 node(s) didn't match Pod's required features", `1 ${NOT_HELPFUL}`),
    ],
    [
      'goes where a kubelet declares the feature',
      restartingAll,
      [node('a'), node('b', { declaredFeatures: ['Other', 'RestartAllContainersOnContainerExits'] })],
      'b',
    ],
    [
      'waits while a node makes another pod smaller',
      asking('2'),
      [node('a', { pods: [shrinking] })],
      none('1 Insufficient cpu', `1 ${NO_VICTIMS}`),
    ],
    [
      'does not tolerate a taint',
      pod(),
      [node('a', { spec: { taints: [taint] } })],
      none('1 node(s) had untolerated taint(s)', `1 ${NOT_HELPFUL}`),
    ],
    [
      'tolerates a taint',
      pod({ tolerations: [{ key: 'k', operator: 'Exists' }] }),
      [node('a', { spec: { taints: [taint] } })],
      'a',
    ],
    [
      'avoids a taint that only asks for it',
      pod(),
      [node('a', { spec: { taints: [{ ...taint, effect: 'PreferNoSchedule' }] } }), node('b')],
      'b',
    ],
    [
      'does not go to a node that is cordoned',
      pod(),
      [node('a', { spec: { unschedulable: true } }), node('b', { cpu: '0' })],
      'b',
    ],
    [
      'selects its nodes',
      pod({ nodeSelector: { disk: 'ssd' } }),
      [node('a'), node('b', { labels: { disk: 'ssd' } })],
      'b',
    ],
    [
      'selects nothing by a value that no label can have',
      pod({
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'n', operator: 'Gt', values: ['-1'] }] }],
            },
          },
        },
      }),
      [node('a', { labels: { n: '5' } })],
      none("1 node(s) didn't match Pod's node affinity/selector", `1 ${NOT_HELPFUL}`),
    ],
    [
      'says all that is against it, sorted',
      asking('3'),
      [node('a', { spec: { unschedulable: true } }), node('b', { pods: [asking('2')] }), node('c', { cpu: '1' })],
      none('1 node(s) were unschedulable, 2 Insufficient cpu', `1 ${NO_VICTIMS}, 2 ${NOT_HELPFUL}`, 3),
    ],
    ['needs its port', onPort(80), [node('a', { pods: [onPort(80)] }), node('b')], 'b'],
    [
      'wants to be beside another',
      pod({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [beside] } } }),
      [node('a'), node('b', { pods: [pod({}, web)] })],
      'b',
    ],
    [
      'is the first of those that want to be together',
      pod({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [beside] } } }, web),
      [node('a')],
      'a',
    ],
    [
      'wants to be away from another',
      pod({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [beside] } } }),
      [node('a', { pods: [pod({}, web)] }), node('b')],
      'b',
    ],
    [
      'is not wanted by who is there',
      pod({}, web),
      [
        node('a', {
          pods: [pod({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [beside] } } })],
        }),
      ],
      none("1 node(s) didn't satisfy existing pods anti-affinity rules", `1 ${NO_VICTIMS}`),
    ],
    [
      'keeps its group even',
      pod(
        {
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'zone',
              whenUnsatisfiable: 'DoNotSchedule',
              labelSelector: { matchLabels: web },
            },
          ],
        },
        web,
      ),
      [node('a', { labels: { zone: 'x' }, pods: [pod({}, web)] }), node('b', { labels: { zone: 'y' }, cpu: '1' })],
      'b',
    ],
  ])('%s', async (_, wanted, nodes, expected) => {
    expect(await outcome(wanted, nodes)).toBe(expected)
  })
})

describe('rules that are more than a cycle compares make the pod wait:', () => {
  const TOO_MUCH = 'pod has too many rules of affinity and spreading to compare with all pods and nodes'
  const MANY = 8_000
  const terms = Array.from({ length: MANY }, (_, at) => ({
    ...beside,
    labelSelector: { matchLabels: { app: `a${at}` } },
  }))
  const preferred = terms.map((podAffinityTerm) => ({ weight: 1, podAffinityTerm }))
  const matchExpressions = terms.map((_, at) => ({ key: `k${at}`, operator: 'DoesNotExist' }))
  const labelSelector = { matchExpressions }
  const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector }
  const crowded = Array.from({ length: 100 }, (_, at) => node(`n${at}`, { pods: [pod({}, web)] }))

  test.each<[string, PodSpec]>([
    ['pod affinity', { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } }],
    ['anti-affinity', { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } }],
    ['preferences', { affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } }],
    [
      'one long selector',
      {
        affinity: {
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...beside, labelSelector }] },
        },
      },
    ],
    ['spreading', { topologySpreadConstraints: [spread] }],
    [
      'node affinity',
      {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions } }],
          },
        },
      },
    ],
    ['a node selector', { nodeSelector: Object.fromEntries(matchExpressions.map(({ key }) => [key, 'x'.repeat(40)])) }],
  ])('%s', async (_, spec) => {
    expect(await outcome(pod(spec), crowded)).toBe(`0/100 nodes are available: ${TOO_MUCH}. not found`)
    expect((await outcome(pod(spec), [node('a')])).includes(TOO_MUCH)).toBe(false)
  })
})

test('a profile that looks at a share of the nodes takes the best of the first places, and goes on from there', () => {
  const nodes = Array.from({ length: 200 }, (_, at) => node(`n${at}`, at === 150 ? {} : { pods: [asking('1')] }))
  const cluster = {
    nodes,
    node: (name: string) => nodes.find((one) => one.name === name),
    terms: new RunningTerms(),
    namespaces: () => ({}),
    defaultSelector: () => undefined,
    unmade: () => undefined,
    volumes: new VolumeFacts(),
    devices: new DeviceFacts(),
  }
  const place = (percentageOfNodes: number, search: Search) => {
    const profile = { ...defaultProfile, percentageOfNodes }
    const wanted = asking('1')
    const work = new CycleWork()
    const cycle = { ...cluster, pod: wanted, info: new PodInfo(wanted), claims: undefined, work }
    const choice = atOnce(choose(atOnce(Filters.begin(profile, cycle)), search))
    return 'node' in choice ? choice.node.name : ''
  }
  const search = { from: 0 }
  expect([place(10, search), search.from]).toEqual(['n0', 100])
  expect([place(10, search), search.from]).toEqual(['n150', 0])
  expect([place(60, search), search.from]).toEqual(['n0', 120])
  expect(place(0, { from: 0 })).toBe('n150')
})

test('of a pod that names its node by an affinity only that node is looked at', () => {
  const nodes = Array.from({ length: 200 }, (_, at) => node(`n${at}`))
  const named = (...values: string[]) =>
    pod({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: values.map((value) => ({
              matchFields: [{ key: 'metadata.name', operator: 'In', values: [value] }],
            })),
          },
        },
      },
    })
  const chosen = (wanted: Pod) => {
    const filters = filtersFor(wanted, nodes)
    const looks = vi.spyOn(filters, 'refusalOf')
    const choice = atOnce(choose(filters))
    return ['node' in choice ? choice.node.name : failureMessage(choice, ''), looks.mock.calls.length]
  }
  expect(chosen(named('n17'))).toEqual(['n17', 1])
  expect(chosen(named('n18', 'n17', 'other'))).toEqual(['n17', 2])
  expect(chosen(named('other'))).toEqual([
    "0/200 nodes are available: 200 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    0,
  ])
})
