import { daemonSet, extraNode, neverReady, pod } from '../manifests.ts'
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

/** A pod is tried before the scheduler knows that a new node is ready, or after. */
const NEW_NODE = ['FailedScheduling']

export const daemonSets: readonly Scenario[] = [
  { name: 'one on each node', comparesNodes: true, steps: [make()] },
  {
    name: 'takes back what was let go',
    steps: [
      make(),
      { patch: 'v1/pods/*', with: { metadata: { ownerReferences: null } } },
      { patch: 'apps/v1/controllerrevisions/*', with: { metadata: { ownerReferences: null } } },
    ],
  },
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
    differs: 'recorded before the pods of the node were collected',
    isAlone: true,
    byChance: NEW_NODE,
    comparesNodes: true,
    steps: [make(), extraNode(), { deleteGlobal: 'v1/nodes/node-4' }],
  },
  {
    name: 'a node is tainted',
    isAlone: true,
    byChance: NEW_NODE,
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
    byChance: NEW_NODE,
    comparesNodes: true,
    steps: [
      make({}, { spec: { tolerations: [{ key: 'example.com/x', operator: 'Exists' }] } }),
      extraNode({}, { taints: [{ key: 'example.com/x', effect: 'NoSchedule' }] }),
    ],
  },
  {
    name: 'a node loses its label',
    isAlone: true,
    byChance: NEW_NODE,
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
    byChance: NEW_NODE,
    comparesNodes: true,
    steps: [extraNode(), make(), { patchGlobal: 'v1/nodes/node-4', with: { spec: { unschedulable: true } } }],
  },
]
