import { deployment, ends, neverReady, podTemplate, readyAfter, replicaSet } from '../manifests.ts'
import type { PodOptions } from '../manifests.ts'
import type { Action, Scenario } from '../scenario.ts'

const WEB = 'apps/v1/deployments/web'
const patch = (spec: unknown): Action => ({ patch: WEB, with: { spec } })
const image = (name: string): Action => patch({ template: { spec: { containers: [{ name: 'main', image: name }] } } })
const rolling = (maxSurge: unknown, maxUnavailable: unknown) => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
})
const make = (spec: Record<string, unknown> = {}, template: PodOptions = {}): Action => ({
  create: [deployment('web', spec, template)],
})

const sizes: Scenario[] = [0, 1, 3, 7].map((replicas) => ({
  name: `${replicas} replicas`,
  steps: [make({ replicas })],
}))

const rollouts: Scenario[] = [
  [1, 0],
  [0, 1],
  ['25%', '25%'],
  ['100%', 0],
  [0, '100%'],
  [2, 2],
  ['50%', '50%'],
  [3, '10%'],
].map(([surge, unavailable]) => ({
  name: `rolls out with surge ${surge} and ${unavailable} unavailable`,
  steps: [make({ replicas: 4, ...rolling(surge, unavailable) }), image('nginx:2')],
}))

const stuck: Scenario[] = [
  [1, 0],
  [0, 1],
  ['25%', '25%'],
  [2, 1],
  [0, '100%'],
].map(([surge, unavailable]) => ({
  name: `is stuck with surge ${surge} and ${unavailable} unavailable, and is repaired`,
  steps: [
    make({ replicas: 4, progressDeadlineSeconds: 600, ...rolling(surge, unavailable) }),
    patch({ template: { metadata: { annotations: { 'kedge.dev/ready': 'false' } } } }),
    patch({ template: { metadata: { annotations: { 'kedge.dev/ready': null, 'kedge.dev/repaired': 'yes' } } } }),
  ],
}))

const scaling: Scenario[] = [
  {
    name: 'grows and shrinks',
    steps: [make({ replicas: 1 }), patch({ replicas: 5 }), patch({ replicas: 2 }), patch({ replicas: 0 })],
  },
  {
    name: 'grows by kubectl scale',
    steps: [make({ replicas: 1 }), { kubectl: 'scale deployment/web --replicas=3 --current-replicas=1' }],
  },
  {
    name: 'grows in proportion while it is stuck',
    steps: [
      make({ replicas: 10, ...rolling(3, 2) }),
      patch({ template: { metadata: { annotations: { 'kedge.dev/ready': 'false' } } } }),
      patch({ replicas: 20 }),
      patch({ replicas: 5 }),
    ],
  },
  {
    name: 'grows while it is paused in a rollout',
    steps: [
      make({ replicas: 6, ...rolling(2, 1) }),
      patch({ template: { metadata: { annotations: { 'kedge.dev/ready': 'false' } } } }),
      patch({ paused: true }),
      patch({ replicas: 12 }),
      patch({ paused: false }),
    ],
  },
  {
    name: 'shrinks to nothing in a rollout',
    steps: [
      make({ replicas: 3 }),
      patch({ template: { metadata: { annotations: { 'kedge.dev/ready': 'false' } } } }),
      patch({ replicas: 0 }),
    ],
  },
]

const pausing: Scenario[] = [
  { name: 'is made paused', steps: [make({ replicas: 2, paused: true }), patch({ paused: false })] },
  {
    name: 'is paused, changed, resumed',
    steps: [make({ replicas: 2 }), [patch({ paused: true }), image('nginx:2')], patch({ paused: false })],
  },
  {
    name: 'is paused and resumed by kubectl',
    steps: [
      make({ replicas: 2 }),
      { kubectl: 'rollout pause deployment/web' },
      { kubectl: 'rollout resume deployment/web' },
    ],
  },
  { name: 'is scaled while paused', steps: [make({ replicas: 2 }), patch({ paused: true }), patch({ replicas: 4 })] },
]

const history: Scenario[] = [
  ...[0, 1, 2].map((revisionHistoryLimit) => ({
    name: `keeps ${revisionHistoryLimit} of its history`,
    steps: [make({ replicas: 2, revisionHistoryLimit }), image('nginx:2'), image('nginx:3'), image('nginx:4')],
  })),
  {
    name: 'is rolled back by kubectl',
    steps: [make({ replicas: 2 }), image('nginx:2'), image('nginx:3'), { kubectl: 'rollout undo deployment/web' }],
  },
  {
    name: 'is rolled back to its first revision',
    steps: [
      make({ replicas: 2 }),
      image('nginx:2'),
      image('nginx:3'),
      { kubectl: 'rollout undo deployment/web --to-revision=1' },
    ],
  },
  {
    name: 'has the cause of a change in its history',
    steps: [
      make({ replicas: 1 }),
      { kubectl: 'annotate deployment/web kubernetes.io/change-cause=first' },
      {
        patch: WEB,
        with: {
          metadata: { annotations: { 'kubernetes.io/change-cause': 'second' } },
          spec: { template: { spec: { containers: [{ name: 'main', image: 'nginx:2' }] } } },
        },
      },
    ],
  },
  { name: 'returns to a template by hand', steps: [make({ replicas: 2 }), image('nginx:2'), image('nginx')] },
  {
    name: 'is restarted by kubectl',
    steps: [
      make({ replicas: 2 }),
      [
        patch({
          template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' } } },
        }),
      ],
    ],
  },
]

const recreating: Scenario[] = [
  { name: 'is recreated', steps: [make({ replicas: 3, strategy: { type: 'Recreate' } }), image('nginx:2')] },
  {
    name: 'is recreated while it is not ready',
    steps: [make({ replicas: 3, strategy: { type: 'Recreate' } }, neverReady), image('nginx:2')],
  },
]

const trouble: Scenario[] = [
  { name: 'is never ready', steps: [make({ replicas: 2 }, neverReady)] },
  {
    name: 'passes its deadline',
    quietSeconds: 8,
    steps: [make({ replicas: 2, progressDeadlineSeconds: 3 }, neverReady)],
  },
  {
    name: 'passes its deadline in a rollout, and is repaired',
    quietSeconds: 8,
    steps: [
      make({ replicas: 2, progressDeadlineSeconds: 3 }),
      patch({ template: { metadata: { annotations: { 'kedge.dev/ready': 'false' } } } }),
      patch({ template: { metadata: { annotations: { 'kedge.dev/ready': null } } } }),
    ],
  },
  { name: 'is ready late', quietSeconds: 6, steps: [make({ replicas: 2 }, readyAfter(2)), image('nginx:2')] },
  { name: 'is available late', quietSeconds: 7, steps: [make({ replicas: 2, minReadySeconds: 3 }), image('nginx:2')] },
  {
    name: 'has an image that cannot be pulled',
    steps: [make({ replicas: 2 }, { annotations: { 'kedge.dev/image-pull': 'fail' } })],
  },
  { name: 'cannot be scheduled', steps: [make({ replicas: 2 }, { spec: { nodeSelector: { nowhere: 'at-all' } } })] },
  {
    name: 'has no service account',
    steps: [make({ replicas: 2 }, { spec: { serviceAccountName: 'nobody' } })],
  },
  {
    name: 'is kept small by a quota',
    steps: [
      {
        create: [{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few' }, spec: { hard: { pods: '2' } } }],
      },
      make({ replicas: 4 }),
    ],
  },
  {
    name: 'may not run in a restricted namespace',
    namespaceLabels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
    steps: [make({ replicas: 2 })],
  },
  {
    name: 'is refused by limits',
    steps: [
      {
        create: [
          {
            apiVersion: 'v1',
            kind: 'LimitRange',
            metadata: { name: 'small' },
            spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] },
          },
        ],
      },
      make({ replicas: 2 }, { container: { resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } } }),
    ],
  },
  { name: 'has pods that end', steps: [make({ replicas: 1 }, ends(0, { 'kedge.dev/duration': '100000' }))] },
]

const owned: Scenario[] = [
  {
    name: 'adopts a ReplicaSet',
    steps: [
      { create: [replicaSet('web', { replicas: 2, selector: { matchLabels: { app: 'web' } } })] },
      make({ replicas: 2 }),
    ],
  },
  {
    name: 'adopts its own ReplicaSet again',
    steps: [make({ replicas: 2 }), { delete: WEB, propagation: 'Orphan' }, make({ replicas: 3 })],
  },
  { name: 'is deleted', steps: [make({ replicas: 2 }), { delete: WEB }] },
  { name: 'is deleted in the foreground', steps: [make({ replicas: 2 }), { delete: WEB, propagation: 'Foreground' }] },
  { name: 'loses a pod', steps: [make({ replicas: 2 }), { delete: 'v1/pods/*' }] },
  { name: 'loses its ReplicaSet', steps: [make({ replicas: 2 }), { delete: 'apps/v1/replicasets/*' }] },
  {
    name: 'lets go of a pod whose label changes',
    steps: [make({ replicas: 2 }), { patch: 'v1/pods/*', with: { metadata: { labels: { app: 'other' } } } }],
  },
  {
    name: 'has its ReplicaSet scaled by hand',
    // pods are made before its Deployment puts it right, or not
    byChance: ['SuccessfulCreate', 'SuccessfulDelete'],
    steps: [make({ replicas: 2 }), { patch: 'apps/v1/replicasets/*', with: { spec: { replicas: 5 } } }],
  },
  {
    name: 'has labels and annotations that its ReplicaSets get',
    steps: [
      {
        create: [
          {
            ...deployment('web', { replicas: 1 }),
            metadata: { name: 'web', labels: { team: 'a' }, annotations: { 'example.com/note': 'one' } },
          },
        ],
      },
      { patch: WEB, with: { metadata: { annotations: { 'example.com/note': 'two', 'example.com/more': 'x' } } } },
    ],
  },
  {
    name: 'changes the labels of its template',
    steps: [make({ replicas: 2 }), patch({ template: { metadata: { labels: { version: '2' } } } })],
  },
  {
    name: 'shares a selector with another',
    steps: [
      {
        create: [
          deployment('web', { replicas: 2 }),
          {
            ...deployment('web-2', { replicas: 1, selector: { matchLabels: { app: 'web' } } }),
            spec: {
              replicas: 1,
              selector: { matchLabels: { app: 'web' } },
              template: podTemplate('web', { image: 'httpd' }),
            },
          },
        ],
      },
    ],
  },
  {
    name: 'has a selector of expressions',
    steps: [
      make({
        replicas: 2,
        selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'other'] }] },
      }),
    ],
  },
]

export const deployments: readonly Scenario[] = [
  {
    name: 'takes back what was let go',
    steps: [
      make({ replicas: 2 }),
      { patch: 'apps/v1/replicasets/*', with: { metadata: { ownerReferences: null } } },
      { patch: 'v1/pods/*', with: { metadata: { ownerReferences: null } } },
    ],
  },
  ...sizes,
  ...rollouts,
  ...stuck,
  ...scaling,
  ...pausing,
  ...history,
  ...recreating,
  ...trouble,
  ...owned,
]
