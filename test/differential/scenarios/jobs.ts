import { cronJob, ends, job } from '../manifests.ts'
import type { PodOptions } from '../manifests.ts'
import type { Action, Scenario } from '../scenario.ts'

const WORK = 'batch/v1/jobs/work'
const make = (spec: Record<string, unknown> = {}, template: PodOptions = {}): Action => ({
  create: [job('work', spec, template)],
})
const patch = (spec: unknown): Action => ({ patch: WORK, with: { spec } })
const never: PodOptions = { annotations: { 'kedge.dev/duration': '100000' } }
const onFailure: PodOptions = { spec: { restartPolicy: 'OnFailure' } }
const policy = (action: string, values: readonly number[], operator = 'In') => ({
  podFailurePolicy: { rules: [{ action, onExitCodes: { operator, values } }] },
})
const indexed = (completions: number, more: Record<string, unknown> = {}) => ({
  completions,
  parallelism: completions,
  completionMode: 'Indexed',
  ...more,
})
const podFailed: Action = { patch: 'v1/pods/*/status', with: { status: { phase: 'Failed' } } }

export const jobs: readonly Scenario[] = [
  { name: 'once', steps: [make()] },
  ...[
    [3, 1],
    [3, 3],
    [5, 2],
    [1, 5],
  ].map(([completions, parallelism]) => ({
    name: `${completions} completions, ${parallelism} at once`,
    steps: [make({ completions, parallelism })],
  })),
  { name: 'a queue of workers', steps: [make({ parallelism: 3 })] },
  { name: 'no parallelism', steps: [make({ parallelism: 0, completions: 2 }), patch({ parallelism: 2 })] },
  {
    name: 'more at once later',
    steps: [make({ completions: 5, parallelism: 1 }, never), patch({ parallelism: 3 }), patch({ parallelism: 2 })],
  },
  { name: 'no completions', steps: [make({ completions: 0 })] },
  { name: 'indexed', steps: [make(indexed(3))] },
  { name: 'indexed, some at once', steps: [make(indexed(4, { parallelism: 2 }))] },
  {
    name: 'indexed and elastic',
    steps: [
      make(indexed(2), never),
      patch({ completions: 4, parallelism: 4 }),
      patch({ completions: 1, parallelism: 1 }),
    ],
  },
  { name: 'never ends', steps: [make({}, never)] },
  { name: 'fails at once', steps: [make({ backoffLimit: 0 }, ends(1))] },
  { name: 'fails once more', quietSeconds: 16, steps: [make({ backoffLimit: 1 }, ends(1))] },
  { name: 'fails on the spot', steps: [make({ backoffLimit: 0 }, { ...ends(1), ...onFailure })] },
  {
    name: 'several fail at once',
    differs: 'whether pods fail in one moment is chance',
    steps: [make({ backoffLimit: 0, completions: 3, parallelism: 3 }, ends(1))],
  },
  { name: 'indexed, fails', steps: [make(indexed(2, { backoffLimit: 0 }), ends(1))] },
  { name: 'backs off for each index', steps: [make(indexed(2, { backoffLimitPerIndex: 0 }), ends(1))] },
  {
    name: 'too many indexes fail',
    differs: 'whether pods fail in one moment is chance',
    steps: [make(indexed(3, { backoffLimitPerIndex: 0, maxFailedIndexes: 1 }), ends(1))],
  },
  {
    name: 'an index fails by policy',
    steps: [make(indexed(2, { backoffLimitPerIndex: 1, ...policy('FailIndex', [42]) }), ends(42))],
  },
  { name: 'fails by policy', steps: [make({ backoffLimit: 3, ...policy('FailJob', [42]) }, ends(42))] },
  {
    name: 'fails by policy of other codes',
    steps: [make({ backoffLimit: 3, ...policy('FailJob', [0], 'NotIn') }, ends(7))],
  },
  { name: 'counts by policy', steps: [make({ backoffLimit: 0, ...policy('Count', [42]) }, ends(42))] },
  {
    name: 'a disruption does not count',
    steps: [
      make(
        {
          backoffLimit: 0,
          podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
        },
        never,
      ),
      { post: 'v1/pods/*/eviction', body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: {} } },
    ],
  },
  {
    name: 'succeeds by the first index',
    steps: [
      make(indexed(3, { successPolicy: { rules: [{ succeededIndexes: '0' }] } }), {
        annotations: { 'kedge.dev/duration': '100000' },
      }),
      { patch: 'v1/pods/*/status', with: { status: { phase: 'Succeeded' } } },
    ],
  },
  {
    name: 'succeeds by count',
    steps: [
      make(indexed(3, { successPolicy: { rules: [{ succeededCount: 1 }] } }), never),
      { patch: 'v1/pods/*/status', with: { status: { phase: 'Succeeded' } } },
    ],
  },
  { name: 'is made suspended', steps: [make({ suspend: true, completions: 2 }), patch({ suspend: false })] },
  {
    name: 'is suspended and resumed',
    steps: [make({ completions: 2, parallelism: 2 }, never), patch({ suspend: true }), patch({ suspend: false })],
  },
  {
    name: 'is suspended with a policy of replacement',
    steps: [make({ completions: 2, parallelism: 2, podReplacementPolicy: 'Failed' }, never), patch({ suspend: true })],
  },
  { name: 'has a deadline', quietSeconds: 6, steps: [make({ activeDeadlineSeconds: 2 }, never)] },
  { name: 'goes after a while', quietSeconds: 6, steps: [make({ ttlSecondsAfterFinished: 2 })] },
  { name: 'goes at once', steps: [make({ ttlSecondsAfterFinished: 0 })] },
  { name: 'fails and goes', quietSeconds: 6, steps: [make({ ttlSecondsAfterFinished: 1, backoffLimit: 0 }, ends(1))] },
  { name: 'is managed by somebody else', steps: [make({ managedBy: 'example.com/controller' })] },
  {
    name: 'loses a pod',
    differs: 'recorded before the Job tried again',
    steps: [make({}, never), { delete: 'v1/pods/*' }],
  },
  {
    name: 'replaces what failed',
    quietSeconds: 16,
    steps: [make({ backoffLimit: 3, podReplacementPolicy: 'Failed' }, never), podFailed],
  },
  {
    name: 'takes back what was let go',
    steps: [make({ parallelism: 2 }, never), { patch: 'v1/pods/*', with: { metadata: { ownerReferences: null } } }],
  },
  {
    name: 'selects by hand',
    steps: [make({ manualSelector: true, selector: { matchLabels: { pick: 'me' } } }, { labels: { pick: 'me' } })],
  },
  {
    name: 'is deleted',
    steps: [make({}, never), { delete: WORK }],
  },
  { name: 'is deleted, and leaves orphans', steps: [make({}, never), { delete: WORK, propagation: 'Orphan' }] },
  {
    name: 'is kept small by a quota',
    steps: [
      {
        create: [
          { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none' }, spec: { hard: { pods: '0' } } },
        ],
      },
      make(),
    ],
  },
  {
    name: 'has containers beside',
    steps: [
      make(
        {},
        {
          spec: {
            restartPolicy: 'Never',
            initContainers: [{ name: 'side', image: 'busybox', restartPolicy: 'Always' }],
          },
        },
      ),
    ],
  },
  { name: 'CronJob: suspended', steps: [{ create: [cronJob('tick', { schedule: '* * * * *', suspend: true })] }] },
  {
    name: 'CronJob: far away',
    differs: 'no Event says that a schedule never comes',
    steps: [{ create: [cronJob('tick', { schedule: '0 0 30 2 *' })] }],
  },
  {
    name: 'CronJob: each minute, kept',
    quietSeconds: 10,
    steps: [
      [
        { create: [cronJob('tick', { schedule: '0 0 1 1 *', timeZone: 'Europe/Berlin' })] },
        { kubectl: 'create job once --from=cronjob/tick' },
      ],
    ],
  },
  {
    name: 'CronJob: of an unknown zone',
    steps: [
      {
        create: [
          cronJob('tick', {
            schedule: '* * * * *',
            suspend: true,
            timeZone: 'Asia/Tokyo',
            concurrencyPolicy: 'Forbid',
            startingDeadlineSeconds: 100,
          }),
        ],
      },
    ],
  },
]
