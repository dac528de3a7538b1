/** problems.json has the errors that kube-scheduler 1.36.3 printed when it was started with each configuration. */
import { describe, expect, test } from 'vitest'
import type { SchedulerProfile } from '../../../src/configuration/scheduler/configuration.ts'
import { defaultScheduler, readSchedulerConfiguration } from '../../../src/configuration/scheduler/configuration.ts'
import problems from './problems.json' with { type: 'json' }

const read = (fields: object) =>
  readSchedulerConfiguration(
    JSON.stringify({ apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration', ...fields }),
  )

function problemOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return ''
}

test.each(problems)('as with kube-scheduler: $name', ({ configuration, problem }) => {
  expect(problemOf(() => read(configuration))).toBe(problem)
})

test.each<[text: string, problem: string]>([
  ['', 'it is not JSON'],
  ['{"kind":"KubeSchedulerConfiguration"}', "Object 'apiVersion' is missing"],
  [
    '{"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1beta3"}',
    'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3"',
  ],
  [
    '{"kind":"Policy","apiVersion":"kubescheduler.config.k8s.io/v1"}',
    'no kind "Policy" is registered for version "kubescheduler.config.k8s.io/v1"',
  ],
])('%s is no configuration', (text, problem) => {
  expect(problemOf(() => readSchedulerConfiguration(text))).toBe(problem)
})

describe('plugins of kube-scheduler that are not built in are refused', () => {
  const profile = (fields: object) => ({ profiles: [{ schedulerName: 'a', ...fields }] })
  const at = 'initializing profiles: creating profile for scheduler name a: '
  const plugins = (fields: object) => profile({ plugins: fields })
  const args = (name: string, own: object) => profile({ pluginConfig: [{ name, args: own }] })
  const disabled = (...names: string[]) => ({ disabled: names.map((name) => ({ name })) })
  test.each<[name: string, fields: object, problem: string]>([
    ['extenders', { extenders: [{ urlPrefix: 'http://x', filterVerb: 'f' }] }, 'extenders: they are not built in'],
    [
      'a connection',
      { clientConnection: { kubeconfig: '/etc/kubernetes/scheduler.conf' } },
      'clientConnection: the scheduler is part of the server and connects to none',
    ],
    [
      'an election',
      { leaderElection: {} },
      'leaderElection: the scheduler holds no Lease, only leaderElect: false can be said',
    ],
    [
      'profiling',
      { enableProfiling: true, delayCacheUntilActive: true },
      'enableProfiling: not built in; delayCacheUntilActive: not built in',
    ],
    [
      'a plugin of pod groups',
      plugins({ multiPoint: { enabled: [{ name: 'GangScheduling' }] } }),
      `${at}plugin "GangScheduling" is not built in`,
    ],
    [
      'args that no plugin has',
      args('NodePorts', { a: 1 }),
      'decoding .profiles[0].pluginConfig[0]: plugin "NodePorts" takes no args',
    ],
    [
      'args of a plugin that is called as an object names its own',
      args('constructor', {}),
      'decoding .profiles[0].pluginConfig[0]: plugin "constructor" takes no args',
    ],
    [
      'times for devices',
      args('DynamicResources', { filterTimeout: '5s' }),
      `${at}args for plugin DynamicResources: filterTimeout and bindingTimeout are not built in`,
    ],
    [
      'a time for volumes',
      args('VolumeBinding', { bindTimeoutSeconds: 5 }),
      `${at}args for plugin VolumeBinding: bindTimeoutSeconds is not built in, a pod waits for its volumes`,
    ],
    [
      'gates that nobody looks at',
      plugins({ preEnqueue: disabled('*') }),
      `${at}to run without "SchedulingGates" is not built in`,
    ],
    [
      'a filter without what prepares it',
      plugins({ preFilter: disabled('NodePorts') }),
      `${at}plugin "NodePorts" at filter without preFilter is not built in`,
    ],
    [
      'a score without what prepares it',
      plugins({ preScore: disabled('*') }),
      `${at}plugin "TaintToleration" at score without preScore is not built in`,
    ],
    [
      'half of the devices',
      plugins({ preBind: disabled('DynamicResources') }),
      `${at}plugin "DynamicResources" at preEnqueue without preBind is not built in`,
    ],
    [
      'half of the volumes',
      plugins({ reserve: disabled('VolumeBinding') }),
      `${at}plugin "VolumeBinding" at preFilter without reserve is not built in`,
    ],
    [
      'a point whose name an object has',
      plugins({ filter: { enabled: [{ name: 'toString' }] } }),
      `${at}FilterPlugin "toString" does not exist`,
    ],
  ])('%s', (_, fields, problem) => {
    expect(problemOf(() => read(fields))).toBe(problem)
  })
})

test('a configuration that says nothing is that of kube-scheduler without one', () => {
  expect(read({})).toEqual(defaultScheduler)
  expect(read({ leaderElection: { leaderElect: false }, clientConnection: {}, parallelism: 1 })).toEqual(
    defaultScheduler,
  )
  expect(read({ profiles: [{ plugins: null, pluginConfig: null }] })).toEqual(defaultScheduler)
})

describe('plugins, in the order in which kube-scheduler 1.36.3 said that it runs them', () => {
  const enabled = (...plugins: (string | [string, number])[]) => ({
    enabled: plugins.map((plugin) =>
      typeof plugin === 'string' ? { name: plugin } : { name: plugin[0], weight: plugin[1] },
    ),
  })
  const disabled = (...names: string[]) => ({ disabled: names.map((name) => ({ name })) })
  const scores = ({ at, weights }: SchedulerProfile) => at.score.map((name) => `${name} ${weights.get(name)}`)
  const first = (plugins: object) => read({ profiles: [{ schedulerName: 'a', plugins }] }).profiles[0]!

  test.each<[name: string, plugins: object, expected: readonly string[]]>([
    [
      'the default',
      {},
      [
        'TaintToleration 3',
        'NodeAffinity 2',
        'NodeResourcesFit 1',
        'VolumeBinding 1',
        'PodTopologySpread 2',
        'InterPodAffinity 2',
        'DynamicResources 2',
        'NodeResourcesBalancedAllocation 1',
        'ImageLocality 1',
      ],
    ],
    ['one alone', { score: { ...disabled('*'), ...enabled(['ImageLocality', 7]) } }, ['ImageLocality 7']],
    [
      'without some',
      { score: disabled('PodTopologySpread', 'InterPodAffinity', 'DynamicResources', 'VolumeBinding', 'Unknown') },
      [
        'TaintToleration 3',
        'NodeAffinity 2',
        'NodeResourcesFit 1',
        'NodeResourcesBalancedAllocation 1',
        'ImageLocality 1',
      ],
    ],
    [
      'with another weight, which comes first',
      { score: { ...enabled(['ImageLocality', 9]), ...disabled('VolumeBinding', 'DynamicResources') } },
      [
        'ImageLocality 9',
        'TaintToleration 3',
        'NodeAffinity 2',
        'NodeResourcesFit 1',
        'PodTopologySpread 2',
        'InterPodAffinity 2',
        'NodeResourcesBalancedAllocation 1',
      ],
    ],
    [
      'with another weight at all points, in its old place',
      {
        multiPoint: enabled(['TaintToleration', 5], 'NodeAffinity'),
        score: disabled('DynamicResources', 'VolumeBinding', 'ImageLocality'),
      },
      [
        'TaintToleration 5',
        'NodeAffinity 1',
        'NodeResourcesFit 1',
        'PodTopologySpread 2',
        'InterPodAffinity 2',
        'NodeResourcesBalancedAllocation 1',
      ],
    ],
    [
      'gone at all points, and back at one',
      {
        multiPoint: {
          ...disabled('*'),
          ...enabled('SchedulingGates', 'PrioritySort', 'DefaultBinder', ['NodeResourcesFit', 4]),
        },
        score: enabled('ImageLocality'),
      },
      ['NodeResourcesFit 4', 'ImageLocality 1'],
    ],
  ])('%s', (_, plugins, expected) => {
    expect(scores(first(plugins))).toEqual(expected)
  })
})

test('the share of nodes is that of the profile, or of all', () => {
  const profiles = [{ schedulerName: 'a', percentageOfNodesToScore: 10 }, { schedulerName: 'b' }]
  const setting = read({ percentageOfNodesToScore: 50, profiles, podInitialBackoffSeconds: 3 })
  expect(setting.profiles.map(({ percentageOfNodes }) => percentageOfNodes)).toEqual([10, 50])
  expect(setting.backoffSeconds).toEqual({ first: 3, last: 10 })
})
