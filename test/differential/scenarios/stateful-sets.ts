import { claim, neverReady, pod, readyAfter, service, statefulSet } from '../manifests.ts'
import type { PodOptions } from '../manifests.ts'
import type { Action, Scenario } from '../scenario.ts'

const DB = 'apps/v1/statefulsets/db'
const make = (spec: Record<string, unknown> = {}, template: PodOptions = {}): Action => ({
  create: [service('db', { clusterIP: 'None' }), statefulSet('db', spec, template)],
})
const patch = (spec: unknown): Action => ({ patch: DB, with: { spec } })
const image = (name: string): Action => patch({ template: { spec: { containers: [{ name: 'main', image: name }] } } })
const notReady: Action = patch({ template: { metadata: { annotations: { 'kedge.dev/ready': 'false' } } } })
const rolling = (rollingUpdate: Record<string, unknown>) => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate },
})
const parallel = { podManagementPolicy: 'Parallel' }
const { apiVersion: _, kind: __, ...data } = claim('data')
const claims = { volumeClaimTemplates: [data] }
const retention = (whenDeleted: string, whenScaled: string) => ({
  persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
})

export const statefulSets: readonly Scenario[] = [
  ...[0, 1, 3].flatMap((replicas) => [
    { name: `${replicas} in order`, steps: [make({ replicas })] },
    { name: `${replicas} in parallel`, steps: [make({ replicas, ...parallel })] },
  ]),
  {
    name: 'grows and shrinks in order',
    steps: [make({ replicas: 1 }), patch({ replicas: 3 }), patch({ replicas: 1 })],
  },
  {
    name: 'grows and shrinks in parallel',
    steps: [make({ replicas: 1, ...parallel }), patch({ replicas: 4 }), patch({ replicas: 0 })],
  },
  {
    name: 'takes back what was let go',
    steps: [
      make({ replicas: 2 }),
      { patch: 'v1/pods/*', with: { metadata: { ownerReferences: null } } },
      { patch: 'apps/v1/controllerrevisions/*', with: { metadata: { ownerReferences: null } } },
    ],
  },
  { name: 'rolls out', steps: [make({ replicas: 3 }), image('nginx:2')] },
  { name: 'rolls out in parallel', steps: [make({ replicas: 3, ...parallel }), image('nginx:2')] },
  {
    name: 'rolls out to a part',
    steps: [make({ replicas: 4, ...rolling({ partition: 2 }) }), image('nginx:2'), patch(rolling({ partition: 0 }))],
  },
  {
    name: 'has a part beyond its size',
    steps: [make({ replicas: 2, ...rolling({ partition: 5 }) }), image('nginx:2')],
  },
  {
    name: 'waits for deletion',
    steps: [make({ replicas: 2, updateStrategy: { type: 'OnDelete' } }), image('nginx:2'), { delete: 'v1/pods/db-0' }],
  },
  {
    name: 'is stuck in a rollout, and is repaired',
    steps: [make({ replicas: 3 }), notReady, image('nginx:2'), { delete: 'v1/pods/db-2' }],
  },
  { name: 'is stuck in a parallel rollout', steps: [make({ replicas: 3, ...parallel }), notReady] },
  { name: 'never has its first pod ready', steps: [make({ replicas: 3 }, neverReady)] },
  { name: 'never is ready, in parallel', steps: [make({ replicas: 3, ...parallel }, neverReady)] },
  { name: 'is ready late', quietSeconds: 6, steps: [make({ replicas: 2 }, readyAfter(2))] },
  { name: 'is available late', quietSeconds: 7, steps: [make({ replicas: 2, minReadySeconds: 3 })] },
  { name: 'loses a pod in the middle', steps: [make({ replicas: 3 }), { delete: 'v1/pods/db-1' }] },
  { name: 'loses all pods', steps: [make({ replicas: 2 }), [{ delete: 'v1/pods/db-0' }, { delete: 'v1/pods/db-1' }]] },
  {
    name: 'begins at another number',
    steps: [make({ replicas: 2, ordinals: { start: 5 } }), patch({ ordinals: { start: 4 } })],
  },
  { name: 'has claims', steps: [make({ replicas: 2, ...parallel, ...claims }), patch({ replicas: 1 })] },
  ...[
    ['Retain', 'Retain'],
    ['Delete', 'Retain'],
    ['Retain', 'Delete'],
    ['Delete', 'Delete'],
  ].map(([deleted = '', scaled = '']) => ({
    name: `claims when deleted: ${deleted}, when scaled: ${scaled}`,
    // kube-controller-manager says when it tried with an old copy of a claim
    byChance: ['FailedUpdate'],
    steps: [
      make({ replicas: 2, ...parallel, ...claims, ...retention(deleted, scaled) }),
      patch({ replicas: 1 }),
      { delete: DB },
    ],
  })),
  {
    name: 'changes what becomes of its claims',
    steps: [
      make({ replicas: 2, ...parallel, ...claims }),
      patch(retention('Delete', 'Delete')),
      patch(retention('Retain', 'Retain')),
    ],
  },
  ...[0, 1].map((revisionHistoryLimit) => ({
    name: `keeps ${revisionHistoryLimit} of its history`,
    steps: [make({ replicas: 1, revisionHistoryLimit }), image('nginx:2'), image('nginx:3'), image('nginx:4')],
  })),
  {
    name: 'is rolled back by kubectl',
    steps: [make({ replicas: 2 }), image('nginx:2'), { kubectl: 'rollout undo statefulset/db' }],
  },
  { name: 'returns to a template by hand', steps: [make({ replicas: 2 }), image('nginx:2'), image('nginx')] },
  {
    name: 'adopts a pod that was there',
    steps: [{ create: [pod('db-0', { labels: { app: 'db' } })] }, make({ replicas: 2 })],
  },
  {
    name: 'does not adopt a pod of another name',
    steps: [{ create: [pod('other', { labels: { app: 'db' } })] }, make({ replicas: 1 })],
  },
  {
    name: 'leaves orphans, and adopts them',
    steps: [
      make({ replicas: 2 }),
      { delete: DB, propagation: 'Orphan' },
      { create: [statefulSet('db', { replicas: 3 })] },
    ],
  },
  { name: 'is deleted', steps: [make({ replicas: 2 }), { delete: DB }] },
  { name: 'is deleted in the foreground', steps: [make({ replicas: 2 }), { delete: DB, propagation: 'Foreground' }] },
  {
    name: 'lets go of a pod whose label changes',
    steps: [make({ replicas: 2 }), { patch: 'v1/pods/db-0', with: { metadata: { labels: { app: 'other' } } } }],
  },
  {
    name: 'is kept small by a quota',
    steps: [
      {
        create: [{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few' }, spec: { hard: { pods: '1' } } }],
      },
      make({ replicas: 2 }),
    ],
  },
  {
    name: 'replaces pods that failed',
    steps: [make({ replicas: 2 }), { patch: 'v1/pods/db-0/status', with: { status: { phase: 'Failed' } } }],
  },
  {
    name: 'replaces pods that succeeded',
    steps: [make({ replicas: 1 }), { patch: 'v1/pods/db-0/status', with: { status: { phase: 'Succeeded' } } }],
  },
]
