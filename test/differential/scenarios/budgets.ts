import { budget, claim, daemonSet, deployment, neverReady, pod, replicaSet, statefulSet } from '../manifests.ts'
import type { Action, Manifest, Scenario } from '../scenario.ts'

const make = (...objects: Manifest[]): Action => ({ create: objects })
const evict = (name: string): Action => ({
  post: `v1/pods/${name}/eviction`,
  body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: {} },
})
const autoscaler = (spec: Record<string, unknown>): Manifest => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web' },
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 5, ...spec },
})
const cpu = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})
/** Requests 100m of CPU and uses so much. */
const using = (usage: string) => ({
  annotations: { 'kedge.dev/usage-cpu': usage },
  container: { resources: { requests: { cpu: '100m' } } },
})

/** Told where the first look comes before the pods have been ready for a while. */
const NOT_YET = ['FailedGetResourceMetric', 'FailedComputeMetricsReplicas']

/** An autoscaler looks each 15 seconds. */
const autoscalers: readonly Scenario[] = [
  {
    name: 'autoscaler: no metrics',
    quietSeconds: 20,
    steps: [
      make(
        deployment('web', { replicas: 2 }),
        autoscaler({
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
          ],
        }),
      ),
    ],
  },
  {
    name: 'autoscaler: below its least',
    quietSeconds: 20,
    steps: [make(deployment('web', { replicas: 1 }), autoscaler({ minReplicas: 3 }))],
  },
  {
    name: 'autoscaler: above its most',
    quietSeconds: 20,
    steps: [make(deployment('web', { replicas: 6 }), autoscaler({}))],
  },
  {
    name: 'autoscaler: nothing to scale',
    quietSeconds: 20,
    steps: [make(autoscaler({}))],
  },
  {
    name: 'autoscaler: off at zero',
    quietSeconds: 20,
    steps: [make(deployment('web', { replicas: 0 }), autoscaler({}))],
  },
  {
    name: 'autoscaler: nobody serves its metrics',
    quietSeconds: 20,
    steps: [
      make(
        deployment('web', { replicas: 2 }),
        autoscaler({
          metrics: [
            { type: 'Pods', pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '1' } } },
            { type: 'External', external: { metric: { name: 'length' }, target: { type: 'Value', value: '1' } } },
          ],
        }),
      ),
    ],
  },
  {
    name: 'autoscaler: uses what it is to use',
    quietSeconds: 40,
    byChance: NOT_YET,
    steps: [make(deployment('web', { replicas: 2 }, using('50m')), autoscaler({ metrics: [cpu(50)] }))],
  },
  {
    name: 'autoscaler: uses less, and waits',
    quietSeconds: 40,
    byChance: NOT_YET,
    steps: [make(deployment('web', { replicas: 3 }, using('10m')), autoscaler({ metrics: [cpu(50)] }))],
  },
  {
    name: 'autoscaler: uses less, and need not wait',
    quietSeconds: 40,
    byChance: NOT_YET,
    steps: [
      make(
        deployment('web', { replicas: 3 }, using('10m')),
        autoscaler({
          minReplicas: 2,
          metrics: [cpu(50)],
          behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
        }),
      ),
    ],
  },
]

const volume = (name: string, spec: Record<string, unknown> = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/data' },
    storageClassName: name,
    persistentVolumeReclaimPolicy: 'Retain',
    ...spec,
  },
})

/**
 * Disruption budgets, autoscalers and claims: what looks after others' pods. A budget settles before its pods come: whether
 * it is looked at without them first would be chance.
 */
export const budgets: readonly Scenario[] = [
  ...[
    ['at least 1', { minAvailable: 1 }],
    ['at least 50 %', { minAvailable: '50%' }],
    ['at least all', { minAvailable: '100%' }],
    ['at most 1 away', { maxUnavailable: 1 }],
    ['at most 30 % away', { maxUnavailable: '30%' }],
    ['none away', { maxUnavailable: 0 }],
  ].map(([name, spec]): Scenario => ({
    name: `budget: ${String(name)}`,
    steps: [
      make(budget('web', spec as Record<string, unknown>)),
      make(deployment('web', { replicas: 3 })),
      evict('*'),
      { patch: 'apps/v1/deployments/web', with: { spec: { replicas: 1 } } },
    ],
  })),
  {
    name: 'budget: nothing is ready',
    steps: [make(budget('web', { minAvailable: 1 })), make(deployment('web', { replicas: 2 }, neverReady)), evict('*')],
  },
  {
    name: 'budget: unready pods may go',
    steps: [
      make(budget('web', { minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' })),
      make(deployment('web', { replicas: 2 }, neverReady)),
      evict('*'),
    ],
  },
  {
    name: 'budget: bare pods by number',
    steps: [
      make(budget('web', { minAvailable: 1 })),
      make(pod('a', { labels: { app: 'web' } }), pod('b', { labels: { app: 'web' } })),
      evict('a'),
      evict('b'),
    ],
  },
  {
    name: 'budget: bare pods by share',
    steps: [make(budget('web', { maxUnavailable: 1 })), make(pod('a', { labels: { app: 'web' } }))],
  },
  {
    name: 'budget: a StatefulSet',
    steps: [
      make(budget('web', { maxUnavailable: 1 })),
      make(statefulSet('web', { replicas: 2, podManagementPolicy: 'Parallel' })),
    ],
  },
  {
    name: 'budget: a ReplicaSet',
    steps: [make(budget('web', { maxUnavailable: '50%' })), make(replicaSet('web', { replicas: 4 }))],
  },
  { name: 'budget: a DaemonSet', steps: [make(budget('web', { maxUnavailable: 1 })), make(daemonSet('web'))] },
  { name: 'budget: selects nothing', steps: [make(budget('web', { minAvailable: 1 }))] },
  {
    name: 'budget: two for the same pods',
    differs: 'kube-controller-manager looks at one of the two, by chance',
    steps: [
      make(
        budget('web', { minAvailable: 1 }),
        budget('also', { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } }),
        budget('others', { minAvailable: 1 }),
      ),
      make(deployment('web', { replicas: 2 }), pod('others')),
    ],
  },
  {
    name: 'budget: its rule changes',
    steps: [
      make(budget('web', { minAvailable: 1 })),
      make(deployment('web', { replicas: 2 })),
      { patch: 'policy/v1/poddisruptionbudgets/web', with: { spec: { minAvailable: 2 } } },
    ],
  },
  ...autoscalers,
  { name: 'claim: without a class', steps: [make(claim('data', { storageClassName: '' }))] },
  { name: 'claim: of a class that is not there', steps: [make(claim('data', { storageClassName: 'nowhere' }))] },
  {
    name: 'claim: finds a volume',
    steps: [{ createGlobal: [volume('diff-a')] }, make(claim('data', { storageClassName: 'diff-a' }))],
  },
  {
    name: 'claim: takes the smallest that is enough',
    steps: [
      {
        createGlobal: [
          volume('diff-b1', { storageClassName: 'diff-b', capacity: { storage: '10Gi' } }),
          volume('diff-b2', { storageClassName: 'diff-b', capacity: { storage: '2Gi' } }),
        ],
      },
      make(claim('data', { storageClassName: 'diff-b' })),
    ],
  },
  {
    name: 'claim: wants another access',
    steps: [
      { createGlobal: [volume('diff-c')] },
      make(claim('data', { storageClassName: 'diff-c', accessModes: ['ReadWriteMany'] })),
    ],
  },
  {
    name: 'claim: names its volume',
    steps: [
      { createGlobal: [volume('diff-d')] },
      make(claim('data', { storageClassName: 'diff-d', volumeName: 'diff-d' })),
    ],
  },
  {
    name: 'claim: names a volume that is not there',
    steps: [make(claim('data', { storageClassName: 'diff-e', volumeName: 'diff-e' }))],
  },
  {
    name: 'claim: its volume comes later',
    quietSeconds: 20,
    steps: [make(claim('data', { storageClassName: 'diff-f' })), { createGlobal: [volume('diff-f')] }],
  },
  {
    name: 'claim: waits for its first user',
    // told where the pod has no node yet when its claim is looked at
    byChance: ['WaitForPodScheduled'],
    steps: [
      {
        createGlobal: [
          {
            apiVersion: 'storage.k8s.io/v1',
            kind: 'StorageClass',
            metadata: { name: 'diff-g' },
            provisioner: 'kubernetes.io/no-provisioner',
            volumeBindingMode: 'WaitForFirstConsumer',
          },
          volume('diff-g'),
        ],
      },
      make(claim('data', { storageClassName: 'diff-g' })),
      make(pod('a', { spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] } })),
    ],
  },
  {
    name: 'claim: made by a pod',
    steps: [
      { createGlobal: [volume('diff-h')] },
      make(
        pod('a', {
          spec: {
            volumes: [
              {
                name: 'data',
                ephemeral: {
                  volumeClaimTemplate: {
                    spec: {
                      accessModes: ['ReadWriteOnce'],
                      storageClassName: 'diff-h',
                      resources: { requests: { storage: '1Gi' } },
                    },
                  },
                },
              },
            ],
          },
        }),
      ),
      { delete: 'v1/pods/a' },
    ],
  },
]
