import { daemonSet, neverReady, pod } from '../manifests.ts'
import type { PodOptions } from '../manifests.ts'
import type { Action, Scenario } from '../scenario.ts'

const AGENT = 'apps/v1/daemonsets/agent'
const make = (spec: Record<string, unknown> = {}, template: PodOptions = {}): Action => ({
  create: [daemonSet('agent', spec, template)],
})
const patch = (spec: unknown): Action => ({ patch: AGENT, with: { spec } })
const image = (name: string): Action => patch({ template: { spec: { containers: [{ name: 'main', image: name }] } } })
const rolling = (rollingUpdate: Record<string, unknown>) => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate },
})
const extraNode = (labels: Record<string, string> = {}, spec: Record<string, unknown> = {}): Action => ({
  createGlobal: [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: 'node-4',
        labels: { 'kedge.dev/simulated': 'true', 'kubernetes.io/hostname': 'node-4', ...labels },
      },
      spec: { podCIDR: '10.244.9.0/24', podCIDRs: ['10.244.9.0/24'], ...spec },
    },
  ],
})

export const daemonSets: readonly Scenario[] = [
  { name: 'one on each node', comparesNodes: true, steps: [make()] },
  {
    name: 'on nodes with a label',
    comparesNodes: true,
    steps: [
      make({}, { spec: { nodeSelector: { disk: 'fast' } } }),
      patch({ template: { spec: { nodeSelector: { disk: null, 'example.com/number': '2' } } } }),
    ],
  },
  {
    name: 'on nodes by affinity',
    comparesNodes: true,
    steps: [
      make(
        {},
        {
          spec: {
            affinity: {
              nodeAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: {
                  nodeSelectorTerms: [
                    { matchExpressions: [{ key: 'example.com/number', operator: 'Gt', values: ['1'] }] },
                  ],
                },
              },
            },
          },
        },
      ),
    ],
  },
  { name: 'on no node', steps: [make({}, { spec: { nodeSelector: { nowhere: 'at-all' } } })] },
  { name: 'is never ready', steps: [make({}, neverReady)] },
  { name: 'is available late', quietSeconds: 7, steps: [make({ minReadySeconds: 3 })] },
  { name: 'rolls out', steps: [make(), image('nginx:2')] },
  ...[1, 2, '50%'].map((maxUnavailable) => ({
    name: `rolls out with ${maxUnavailable} unavailable`,
    steps: [make(rolling({ maxUnavailable })), image('nginx:2')],
  })),
  ...[1, '100%'].map((maxSurge) => ({
    name: `rolls out with surge ${maxSurge}`,
    steps: [make(rolling({ maxSurge, maxUnavailable: 0 })), image('nginx:2')],
  })),
  {
    name: 'is stuck in a rollout',
    steps: [make(), patch({ template: { metadata: { annotations: { 'kedge.dev/ready': 'false' } } } })],
  },
  {
    name: 'is stuck in a rollout with surge',
    steps: [
      make(rolling({ maxSurge: 1, maxUnavailable: 0 })),
      patch({ template: { metadata: { annotations: { 'kedge.dev/ready': 'false' } } } }),
    ],
  },
  {
    name: 'waits for deletion',
    steps: [make({ updateStrategy: { type: 'OnDelete' } }), image('nginx:2'), { delete: 'v1/pods/*' }],
  },
  {
    name: 'keeps 1 of its history',
    steps: [make({ revisionHistoryLimit: 1 }), image('nginx:2'), image('nginx:3'), image('nginx:4')],
  },
  { name: 'is rolled back by kubectl', steps: [make(), image('nginx:2'), { kubectl: 'rollout undo daemonset/agent' }] },
  { name: 'loses a pod', steps: [make(), { delete: 'v1/pods/*' }] },
  {
    name: 'lets go of a pod whose label changes',
    steps: [make(), { patch: 'v1/pods/*', with: { metadata: { labels: { app: 'other' } } } }],
  },
  { name: 'leaves orphans, and adopts them', steps: [make(), { delete: AGENT, propagation: 'Orphan' }, make()] },
  { name: 'is deleted', steps: [make(), { delete: AGENT }] },
  {
    name: 'does not count pods of others',
    steps: [
      { create: [pod('other', { labels: { app: 'agent' } })] },
      make({}, { spec: { nodeSelector: { disk: 'fast' } } }),
    ],
  },
  {
    name: 'has the host’s network and ports',
    steps: [
      make({}, { spec: { hostNetwork: true }, container: { ports: [{ containerPort: 39001, hostPort: 39001 }] } }),
    ],
  },
  {
    name: 'a node comes and goes',
    isAlone: true,
    comparesNodes: true,
    steps: [make(), extraNode(), { deleteGlobal: 'v1/nodes/node-4' }],
  },
  {
    name: 'a node is tainted',
    isAlone: true,
    comparesNodes: true,
    steps: [
      make(),
      extraNode({}, { taints: [{ key: 'example.com/x', effect: 'NoSchedule' }] }),
      { patchGlobal: 'v1/nodes/node-4', with: { spec: { taints: [{ key: 'example.com/x', effect: 'NoExecute' }] } } },
    ],
  },
  {
    name: 'a node is tainted, and tolerated',
    isAlone: true,
    comparesNodes: true,
    steps: [
      make({}, { spec: { tolerations: [{ key: 'example.com/x', operator: 'Exists' }] } }),
      extraNode({}, { taints: [{ key: 'example.com/x', effect: 'NoSchedule' }] }),
    ],
  },
  {
    name: 'a node loses its label',
    isAlone: true,
    comparesNodes: true,
    steps: [
      make({}, { spec: { nodeSelector: { pool: 'x' } } }),
      extraNode({ pool: 'x' }),
      { patchGlobal: 'v1/nodes/node-4', with: { metadata: { labels: { pool: 'y' } } } },
    ],
  },
  {
    name: 'a node is cordoned',
    isAlone: true,
    comparesNodes: true,
    steps: [extraNode(), make(), { patchGlobal: 'v1/nodes/node-4', with: { spec: { unschedulable: true } } }],
  },
]
