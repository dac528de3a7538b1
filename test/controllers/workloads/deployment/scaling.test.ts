import { describe, expect, test } from 'vitest'
import type { Deployment, ReplicaSet } from '../../../../src/api/apps/v1.ts'
import type { Rollout } from '../../../../src/controllers/workloads/deployment/deployment.ts'
import { reconcileRolling } from '../../../../src/controllers/workloads/deployment/scaling.ts'

const set = (name: string, replicas: number, availableReplicas: number): ReplicaSet => ({
  metadata: { name, annotations: { 'deployment.kubernetes.io/desired-replicas': '5' } },
  spec: { replicas },
  status: { replicas: availableReplicas, availableReplicas },
})
const deployment: Deployment = {
  metadata: { name: 'web' },
  spec: { replicas: 5, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } },
}

/** The sizes of the old and the new one after a look. */
async function sizesAfter(old: ReplicaSet, current: ReplicaSet): Promise<(number | undefined)[]> {
  const rollout = {
    deployment,
    sets: { update: (changed: ReplicaSet) => Promise.resolve(changed) },
    events: { normal: () => Promise.resolve() },
  } as unknown as Rollout
  await reconcileRolling(rollout, [old], current)
  return [old.spec?.replicas, current.spec?.replicas]
}

describe('a rollout of which at least 3 have to be available', () => {
  test.each([
    ['takes what is too much', set('old', 5, 5), set('new', 3, 0), [3, 3]],
    ['keeps what serves', set('old', 3, 3), set('new', 5, 0), [3, 5]],
    ['takes those first that do not serve', set('old', 5, 3), set('new', 3, 0), [3, 3]],
    ['waits while pods that go are counted as available', set('old', 5, 14), set('new', 3, 0), [5, 3]],
    ['waits after its own last step', set('old', 4, 5), set('new', 4, 1), [4, 4]],
  ])('%s', async (_, old, current, sizes) => {
    expect(await sizesAfter(old, current)).toEqual(sizes)
  })
})
