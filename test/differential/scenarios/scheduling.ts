import { claim, deployment, extraNode, pod } from '../manifests.ts'
import type { PodOptions } from '../manifests.ts'
import { device } from '../nodes.ts'
import type { Action, Manifest, Scenario } from '../scenario.ts'

const needs = (number: number, count: number): PodOptions['container'] => ({
  resources: { limits: { [device(number)]: String(count) } },
})
const onNode = (number: number) => ({ nodeSelector: { 'example.com/number': String(number) } })
const nodeAffinity = (rule: unknown) => ({ affinity: { nodeAffinity: rule } })
const required = (...matchExpressions: unknown[]) =>
  nodeAffinity({ requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } })
const term = (app: string, topologyKey: string) => ({ labelSelector: { matchLabels: { app } }, topologyKey })
const HOST = 'kubernetes.io/hostname'
const ZONE = 'topology.kubernetes.io/zone'
const podAffinity = (kind: 'podAffinity' | 'podAntiAffinity', ...terms: unknown[]) => ({
  affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
})
const make = (...pods: Manifest[]): Action => ({ create: pods })
const priority = (name: string, value: number, more: Record<string, unknown> = {}): Manifest => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  ...more,
})
const node4 = (spec: unknown): Action => ({ patchGlobal: 'v1/nodes/node-4', with: { spec } })
const pool = { nodeSelector: { pool: 'x' } }

const choices: Scenario[] = [
  { name: 'one node by its label', steps: [make(pod('a', { spec: onNode(2) }))] },
  { name: 'no node by its label', steps: [make(pod('a', { spec: { nodeSelector: { nowhere: 'at-all' } } }))] },
  {
    name: 'In',
    steps: [make(pod('a', { spec: required({ key: 'example.com/number', operator: 'In', values: ['3'] }) }))],
  },
  {
    name: 'NotIn',
    steps: [make(pod('a', { spec: required({ key: 'example.com/number', operator: 'NotIn', values: ['1', '3'] }) }))],
  },
  {
    name: 'Gt',
    steps: [make(pod('a', { spec: required({ key: 'example.com/number', operator: 'Gt', values: ['2'] }) }))],
  },
  {
    name: 'Lt',
    steps: [make(pod('a', { spec: required({ key: 'example.com/number', operator: 'Lt', values: ['2'] }) }))],
  },
  {
    name: 'Exists and DoesNotExist',
    steps: [
      make(
        pod('a', { spec: required({ key: 'disk', operator: 'Exists' }) }),
        pod('b', {
          spec: required(
            { key: 'disk', operator: 'DoesNotExist' },
            { key: 'example.com/number', operator: 'Lt', values: ['3'] },
          ),
        }),
      ),
    ],
  },
  {
    name: 'by the field of a name',
    steps: [
      make(
        pod('a', {
          spec: nodeAffinity({
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-3'] }] }],
            },
          }),
        }),
        pod('b', {
          spec: nodeAffinity({
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['nowhere'] }] }],
            },
          }),
        }),
      ),
    ],
  },
  {
    name: 'a wish that weighs',
    steps: [
      make(
        pod('a', {
          spec: nodeAffinity({
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 100,
                preference: { matchExpressions: [{ key: 'example.com/number', operator: 'In', values: ['2'] }] },
              },
            ],
          }),
        }),
      ),
    ],
  },
  {
    name: 'wishes of two weights',
    steps: [
      make(
        pod('a', {
          spec: nodeAffinity({
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 20,
                preference: { matchExpressions: [{ key: 'example.com/number', operator: 'In', values: ['2'] }] },
              },
              {
                weight: 100,
                preference: { matchExpressions: [{ key: 'example.com/number', operator: 'In', values: ['3'] }] },
              },
            ],
          }),
        }),
      ),
    ],
  },
  { name: 'bound by its maker', steps: [make(pod('a', { spec: { nodeName: 'node-2' } }))] },
  { name: 'another scheduler', steps: [make(pod('a', { spec: { schedulerName: 'other' } }))] },
  {
    name: 'gates',
    steps: [
      make(
        pod('a', { spec: { ...onNode(1), schedulingGates: [{ name: 'example.com/a' }, { name: 'example.com/b' }] } }),
      ),
      { patch: 'v1/pods/a', with: { spec: { schedulingGates: [{ name: 'example.com/b' }] } } },
      { patch: 'v1/pods/a', with: { spec: { schedulingGates: [] } } },
    ],
  },
  {
    name: 'a gated pod is narrowed',
    steps: [
      make(pod('a', { spec: { schedulingGates: [{ name: 'example.com/a' }] } })),
      { patch: 'v1/pods/a', with: { spec: { nodeSelector: { disk: 'fast' }, schedulingGates: [] } } },
    ],
  },
]

const others: Scenario[] = [
  {
    name: 'beside another pod',
    steps: [
      make(pod('first', { spec: onNode(2) })),
      make(pod('second', { spec: podAffinity('podAffinity', term('first', HOST)) })),
    ],
  },
  {
    name: 'beside nobody',
    steps: [
      make(pod('second', { spec: podAffinity('podAffinity', term('first', HOST)) })),
      make(pod('first', { spec: onNode(3) })),
    ],
  },
  {
    name: 'beside itself',
    steps: [
      make(
        deployment(
          'web',
          { replicas: 2 },
          { spec: { ...podAffinity('podAffinity', term('web', HOST)), ...onNode(1) } },
        ),
      ),
    ],
  },
  {
    name: 'away from another pod',
    steps: [
      make(pod('first', { spec: onNode(2) })),
      make(
        pod('second', { spec: { ...podAffinity('podAntiAffinity', term('first', HOST)), ...onNode(2) } }),
        pod('third', { spec: { ...podAffinity('podAntiAffinity', term('first', HOST)), ...onNode(3) } }),
      ),
    ],
  },
  {
    name: 'one in each zone',
    steps: [make(deployment('web', { replicas: 3 }, { spec: podAffinity('podAntiAffinity', term('web', ZONE)) }))],
  },
  {
    name: 'more than zones',
    steps: [make(deployment('web', { replicas: 4 }, { spec: podAffinity('podAntiAffinity', term('web', ZONE)) }))],
  },
  {
    name: 'kept away by a pod that is there',
    steps: [
      make(pod('first', { spec: { ...podAffinity('podAntiAffinity', term('second', HOST)), ...onNode(2) } })),
      make(pod('second', { spec: onNode(2) })),
    ],
  },
  {
    name: 'spread over zones',
    steps: [
      make(
        deployment(
          'web',
          { replicas: 6 },
          {
            spec: {
              topologySpreadConstraints: [
                {
                  maxSkew: 1,
                  topologyKey: ZONE,
                  whenUnsatisfiable: 'DoNotSchedule',
                  labelSelector: { matchLabels: { app: 'web' } },
                },
              ],
            },
          },
        ),
      ),
    ],
  },
  {
    name: 'spread cannot be kept',
    steps: [
      make(
        deployment(
          'web',
          { replicas: 3 },
          {
            spec: {
              ...onNode(1),
              topologySpreadConstraints: [
                {
                  maxSkew: 1,
                  topologyKey: ZONE,
                  whenUnsatisfiable: 'DoNotSchedule',
                  nodeAffinityPolicy: 'Ignore',
                  labelSelector: { matchLabels: { app: 'web' } },
                },
              ],
            },
          },
        ),
      ),
    ],
  },
  {
    name: 'spread over domains that are asked for',
    steps: [
      make(
        deployment(
          'web',
          { replicas: 5 },
          {
            spec: {
              topologySpreadConstraints: [
                {
                  maxSkew: 1,
                  minDomains: 5,
                  topologyKey: ZONE,
                  whenUnsatisfiable: 'DoNotSchedule',
                  labelSelector: { matchLabels: { app: 'web' } },
                },
              ],
            },
          },
        ),
      ),
    ],
  },
  {
    name: 'spread by a label that no node has',
    steps: [
      make(
        pod('a', {
          spec: {
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: 'nowhere',
                whenUnsatisfiable: 'DoNotSchedule',
                labelSelector: { matchLabels: { app: 'a' } },
              },
            ],
          },
        }),
      ),
    ],
  },
]

const room: Scenario[] = [
  {
    name: 'a host’s port',
    steps: [
      make(pod('a', { spec: onNode(1), container: { ports: [{ containerPort: 80, hostPort: 38001 }] } })),
      make(pod('b', { spec: onNode(1), container: { ports: [{ containerPort: 80, hostPort: 38001 }] } })),
      { delete: 'v1/pods/a' },
    ],
  },
  {
    name: 'a host’s port of two protocols',
    steps: [
      make(
        pod('a', { spec: onNode(1), container: { ports: [{ containerPort: 80, hostPort: 38002 }] } }),
        pod('b', { spec: onNode(1), container: { ports: [{ containerPort: 80, hostPort: 38002, protocol: 'UDP' }] } }),
      ),
    ],
  },
  { name: 'too much', steps: [make(pod('a', { container: { resources: { requests: { cpu: '64' } } } }))] },
  {
    name: 'too much of two things',
    steps: [make(pod('a', { container: { resources: { requests: { cpu: '64', memory: '1Ti' } } } }))],
  },
  {
    name: 'a device that no node has',
    steps: [make(pod('a', { container: { resources: { limits: { 'example.com/none': '1' } } } }))],
  },
  {
    name: 'devices that are all taken',
    steps: [
      make(...[1, 2, 3].map((number) => pod(`a${number}`, { spec: onNode(number), container: needs(1, 3) }))),
      make(pod('b', { container: needs(1, 2) })),
      { delete: 'v1/pods/a2' },
    ],
  },
  {
    name: 'devices that are taken on one node',
    steps: [
      make(
        pod('a', { spec: onNode(1), container: needs(2, 4) }),
        pod('b', { spec: onNode(2), container: needs(2, 4) }),
      ),
      make(pod('c', { container: needs(2, 1) })),
    ],
  },
  {
    name: 'init containers count',
    steps: [
      make(
        pod('a', {
          spec: { ...onNode(1), initContainers: [{ name: 'init', image: 'busybox', ...needs(3, 5) }] },
          container: needs(3, 1),
        }),
      ),
    ],
  },
  {
    name: 'many reasons',
    steps: [
      make(pod('a', { spec: { ...onNode(1) }, container: needs(4, 4) })),
      make(
        pod('b', {
          spec: {
            ...required({ key: 'example.com/number', operator: 'In', values: ['1', '2'] }),
            topologySpreadConstraints: [],
          },
          container: needs(4, 5),
        }),
      ),
    ],
  },
  {
    name: 'a claim that is not there',
    steps: [make(pod('a', { spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] } }))],
  },
  {
    name: 'a claim that is not bound',
    steps: [
      make(claim('data', { storageClassName: '' })),
      make(pod('a', { spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] } })),
    ],
  },
]

const preemption: Scenario[] = [
  {
    name: 'preempts one pod',
    steps: [
      { createGlobal: [priority('diff-high-1', 1000)] },
      make(...[1, 2, 3].map((number) => pod(`low${number}`, { spec: onNode(number), container: needs(10, 4) }))),
      make(pod('high', { spec: { priorityClassName: 'diff-high-1', ...onNode(2) }, container: needs(10, 4) })),
    ],
  },
  {
    name: 'preempts the fewest',
    steps: [
      { createGlobal: [priority('diff-high-2', 1000)] },
      make(
        pod('a1', { spec: onNode(1), container: needs(11, 2) }),
        pod('a2', { spec: onNode(1), container: needs(11, 2) }),
        pod('b', { spec: onNode(2), container: needs(11, 4) }),
        pod('c1', { spec: onNode(3), container: needs(11, 2) }),
        pod('c2', { spec: onNode(3), container: needs(11, 2) }),
      ),
      make(pod('high', { spec: { priorityClassName: 'diff-high-2' }, container: needs(11, 4) })),
    ],
  },
  {
    name: 'preempts the lowest',
    steps: [
      { createGlobal: [priority('diff-high-3', 1000), priority('diff-mid-3', 500)] },
      make(
        pod('a', { spec: { priorityClassName: 'diff-mid-3', ...onNode(1) }, container: needs(12, 4) }),
        pod('b', { spec: onNode(2), container: needs(12, 4) }),
        pod('c', { spec: { priorityClassName: 'diff-mid-3', ...onNode(3) }, container: needs(12, 4) }),
      ),
      make(pod('high', { spec: { priorityClassName: 'diff-high-3' }, container: needs(12, 4) })),
    ],
  },
  {
    name: 'never preempts',
    steps: [
      { createGlobal: [priority('diff-calm-4', 1000, { preemptionPolicy: 'Never' })] },
      make(...[1, 2, 3].map((number) => pod(`low${number}`, { spec: onNode(number), container: needs(13, 4) }))),
      make(pod('high', { spec: { priorityClassName: 'diff-calm-4' }, container: needs(13, 4) })),
    ],
  },
  {
    name: 'finds nobody lower',
    steps: [
      { createGlobal: [priority('diff-high-5', 1000)] },
      make(
        ...[1, 2, 3].map((number) =>
          pod(`same${number}`, {
            spec: { priorityClassName: 'diff-high-5', ...onNode(number) },
            container: needs(14, 4),
          }),
        ),
      ),
      make(pod('late', { spec: { priorityClassName: 'diff-high-5' }, container: needs(14, 4) })),
    ],
  },
  {
    name: 'spares what a budget holds',
    // the budget is looked at before its pods are there, or not
    byChance: ['NoPods'],
    steps: [
      { createGlobal: [priority('diff-high-6', 1000)] },
      make(
        {
          apiVersion: 'policy/v1',
          kind: 'PodDisruptionBudget',
          metadata: { name: 'a' },
          spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
        },
        pod('a', { spec: onNode(1), container: needs(15, 4) }),
        pod('b', { spec: onNode(2), container: needs(15, 4) }),
        pod('c', { labels: { app: 'a2' }, spec: { ...onNode(3) }, container: needs(15, 4) }),
        {
          apiVersion: 'policy/v1',
          kind: 'PodDisruptionBudget',
          metadata: { name: 'c' },
          spec: { minAvailable: 1, selector: { matchLabels: { app: 'a2' } } },
        },
      ),
      make(pod('high', { spec: { priorityClassName: 'diff-high-6' }, container: needs(15, 4) })),
    ],
  },
  {
    name: 'waits for those that go slowly',
    steps: [
      { createGlobal: [priority('diff-high-7', 1000)] },
      make(
        pod('low', {
          spec: { ...onNode(1), terminationGracePeriodSeconds: 3600 },
          annotations: { 'kedge.dev/stop-delay': '100000' },
          container: needs(16, 4),
        }),
      ),
      make(pod('high', { spec: { priorityClassName: 'diff-high-7', ...onNode(1) }, container: needs(16, 4) })),
      { delete: 'v1/pods/low', graceSeconds: 0 },
    ],
  },
]

const nodes: Scenario[] = [
  {
    name: 'a taint keeps away',
    steps: [
      extraNode({ pool: 'x' }, { taints: [{ key: 'example.com/x', value: 'y', effect: 'NoSchedule' }] }),
      make(pod('a', { spec: pool })),
      node4({ taints: [] }),
    ],
  },
  {
    name: 'a taint is tolerated',
    steps: [
      extraNode({ pool: 'x' }, { taints: [{ key: 'example.com/x', value: 'y', effect: 'NoSchedule' }] }),
      make(pod('a', { spec: { ...pool, tolerations: [{ key: 'example.com/x', operator: 'Equal', value: 'y' }] } })),
    ],
  },
  {
    name: 'a taint would rather not',
    steps: [
      extraNode({ pool: 'x' }, { taints: [{ key: 'example.com/x', effect: 'PreferNoSchedule' }] }),
      make(pod('a', { spec: pool })),
    ],
  },
  {
    name: 'a cordoned node',
    steps: [
      extraNode({ pool: 'x' }, { unschedulable: true }),
      make(pod('a', { spec: pool })),
      node4({ unschedulable: false }),
    ],
  },
  {
    name: 'a taint drives away',
    steps: [
      extraNode({ pool: 'x' }),
      make(
        deployment('web', { replicas: 2 }, { spec: pool }),
        pod('stays', { spec: { ...pool, tolerations: [{ key: 'example.com/x', operator: 'Exists' }] } }),
      ),
      node4({ taints: [{ key: 'example.com/x', effect: 'NoExecute' }] }),
    ],
  },
  {
    name: 'a taint drives away later',
    quietSeconds: 8,
    steps: [
      extraNode({ pool: 'x' }),
      make(
        pod('a', {
          spec: {
            ...pool,
            tolerations: [{ key: 'example.com/x', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 2 }],
          },
        }),
      ),
      node4({ taints: [{ key: 'example.com/x', effect: 'NoExecute' }] }),
    ],
  },
  { name: 'a node comes for those that wait', steps: [make(pod('a', { spec: pool })), extraNode({ pool: 'x' })] },
  {
    name: 'a node’s label comes',
    steps: [
      extraNode(),
      make(pod('a', { spec: pool })),
      { patchGlobal: 'v1/nodes/node-4', with: { metadata: { labels: { pool: 'x' } } } },
    ],
  },
  {
    name: 'drained by kubectl',
    needsEmptyNodes: true,
    steps: [
      extraNode({ pool: 'x' }),
      make(
        deployment(
          'web',
          { replicas: 2 },
          {
            spec: nodeAffinity({
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 100, preference: { matchExpressions: [{ key: 'pool', operator: 'In', values: ['x'] }] } },
              ],
            }),
          },
        ),
      ),
      { kubectl: 'drain node-4 --ignore-daemonsets --delete-emptydir-data --timeout=60s' },
    ],
  },
].map((scenario) => ({ ...scenario, isAlone: true }))

const byNode = (scenario: Scenario): Scenario => ({ comparesNodes: true, ...scenario })
const countsNodes = new Set([
  'one in each zone',
  'more than zones',
  'spread over zones',
  'spread over domains that are asked for',
  'another scheduler',
  'drained by kubectl',
  'spread by a label that no node has',
])

export const scheduling: readonly Scenario[] = [...choices, ...others, ...room, ...preemption, ...nodes].map(
  (scenario) => (countsNodes.has(scenario.name) ? scenario : byNode(scenario)),
)
