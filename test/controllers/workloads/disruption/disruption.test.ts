import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { PodDisruptionBudget } from '../../../../src/api/policy/v1.ts'
import type { Pod } from '../../../../src/api/core/v1.ts'
import { typedResource } from '../../../../src/controllers/client/clientset.ts'
import { DAEMON_SETS } from '../../../../src/controllers/workloads/daemon-set/history.ts'
import { DEPLOYMENTS } from '../../../../src/controllers/workloads/deployment/deployment.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import { REPLICA_SETS } from '../../../../src/controllers/workloads/replica-set.ts'
import { SimulatedPlane } from '../simulated-plane.ts'
import { named, ResourceClient } from '../../../../src/controllers/client/resource-client.ts'
import { StatusError } from '../../../../src/api/status.ts'
import { StorageError } from '../../../../src/storage/errors.ts'
import { statusFor } from '../../../../src/storage/storage-status.ts'

const BUDGETS = typedResource<PodDisruptionBudget>('policy', 'poddisruptionbudgets')

let simulated: SimulatedPlane
beforeEach(async () => {
  simulated = await SimulatedPlane.start('node-1', 'node-2')
})

const budgets = () => simulated.clients.resource(BUDGETS, 'default')
const pods = () => simulated.clients.resource(PODS, 'default')
const get = async () => (await budgets().get('web'))!

const template = (annotations: Record<string, string> = {}) => ({
  metadata: { labels: { app: 'web' }, annotations },
  spec: { containers: [{ name: 'web', image: 'web:1' }] },
})

async function deploy(replicas: number): Promise<void> {
  await simulated.clients.resource(DEPLOYMENTS, 'default').create({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: template() },
  })
}

async function guard(spec: PodDisruptionBudget['spec']): Promise<void> {
  await budgets().create({
    kind: 'PodDisruptionBudget',
    apiVersion: 'policy/v1',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  })
  await simulated.settled(3)
}

const pod = (name: string): Pod => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, namespace: 'default', labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image: 'web:1' }] },
})

describe('a PodDisruptionBudget', () => {
  test.each([
    [{ minAvailable: 3 }, { expectedPods: 4, desiredHealthy: 3, disruptionsAllowed: 1 }],
    [{ minAvailable: '60%' }, { expectedPods: 4, desiredHealthy: 3, disruptionsAllowed: 1 }],
    [{ maxUnavailable: 1 }, { expectedPods: 4, desiredHealthy: 3, disruptionsAllowed: 1 }],
    [{ maxUnavailable: '30%' }, { expectedPods: 4, desiredHealthy: 2, disruptionsAllowed: 2 }],
    [{ minAvailable: 9 }, { expectedPods: 4, desiredHealthy: 9, disruptionsAllowed: 0 }],
  ])('%j of four pods of a Deployment', async (spec, counts) => {
    await deploy(4)
    await simulated.settled(5)
    await guard(spec)
    const { status } = await get()
    const isAllowed = counts.disruptionsAllowed > 0
    expect(status).toMatchObject({ ...counts, currentHealthy: 4, observedGeneration: 1 })
    expect(status?.conditions).toMatchObject([
      {
        type: 'DisruptionAllowed',
        status: isAllowed ? 'True' : 'False',
        reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
        observedGeneration: 1,
      },
    ])
  })

  test('is told of pods that another one guards as well, once', async () => {
    await guard({ minAvailable: 1 })
    const also = { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 1 }
    await budgets().create({
      kind: 'PodDisruptionBudget',
      apiVersion: 'policy/v1',
      metadata: { name: 'also', namespace: 'default' },
      spec: also,
    })
    await pods().create(pod('a'))
    await simulated.settled(5)
    const told = (await simulated.said('Pod')).filter((text) => text.includes('Budget'))
    expect(told).toEqual([
      'Warning controllermanager MultiplePodDisruptionBudgets: ' +
        'Pod "default"/"a" matches multiple PodDisruptionBudgets.  Chose "also" arbitrarily.',
    ])
    await pods().updateWithRetries(named('a'), ({ metadata }) => {
      metadata.labels = { app: 'alone' }
    })
    await pods().create({ ...pod('b'), metadata: { name: 'b', namespace: 'default', labels: { app: 'alone' } } })
    await simulated.settled(5)
    expect((await simulated.said('Pod')).filter((text) => text.includes('Budget'))).toEqual(told)
  })

  test('follows its pods', async () => {
    await guard({ minAvailable: 1 })
    expect((await get()).status).toMatchObject({ expectedPods: 0, disruptionsAllowed: 0 })
    expect(await simulated.said('PodDisruptionBudget')).toEqual([
      'Normal controllermanager NoPods: No matching pods found',
    ])
    await deploy(2)
    await simulated.settled()
    expect((await get()).status).toMatchObject({ expectedPods: 2, currentHealthy: 2, disruptionsAllowed: 1 })
    const [first] = await simulated.pods()
    await pods().updateWithRetries(named(first!.metadata.name!), ({ metadata }) => void (metadata.labels = {}))
    await simulated.settled()
    expect((await get()).status).toMatchObject({ expectedPods: 2, currentHealthy: 2 })
    expect(await simulated.pods()).toHaveLength(3)
  })

  test('says that nobody knows how many pods there should be that nobody controls', async () => {
    await pods().create(pod('alone'))
    await guard({ maxUnavailable: 1 })
    expect((await get()).status).toMatchObject({ expectedPods: 0, currentHealthy: 1, disruptionsAllowed: 0 })
    expect(await simulated.said('PodDisruptionBudget')).toEqual([
      expect.stringContaining(
        'Warning controllermanager UnmanagedPods: Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged.',
      ),
    ])
  })

  test('allows nothing where the controller of its pods has no scale', async () => {
    await simulated.clients.resource(DAEMON_SETS, 'default').create({
      kind: 'DaemonSet',
      apiVersion: 'apps/v1',
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'web' } }, template: template() },
    })
    await simulated.settled(3)
    await guard({ maxUnavailable: 1 })
    const { status } = await get()
    expect(status?.disruptionsAllowed ?? 0).toBe(0)
    expect(status?.conditions).toMatchObject([
      {
        status: 'False',
        reason: 'SyncFailed',
        message: 'daemonsets.apps does not implement the scale subresource',
      },
    ])
    expect(await simulated.said('PodDisruptionBudget')).toEqual([
      'Warning controllermanager CalculateExpectedPodCountFailed: Failed to calculate the number of expected pods: daemonsets.apps does not implement the scale subresource',
    ])
    // and looks again, because that may change without a pod
    expect(simulated.plane.waiting.join()).toMatch(/\bdisruption default\/web in /)
  })

  test.each([
    ['a conversion webhook fails', new StatusError(500, 'InternalError', 'conversion failed')],
    ['the storage fails', statusFor(new StorageError('Failed'), { group: 'apps', resource: 'replicasets' }, 'web')],
  ])('allows nothing while %s, and then again what it allowed', async (_, error) => {
    await simulated.clients.resource(REPLICA_SETS, 'default').create({
      kind: 'ReplicaSet',
      apiVersion: 'apps/v1',
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: template() },
    })
    await simulated.settled(5)
    await guard({ maxUnavailable: 1 })
    expect((await get()).status).toMatchObject({ disruptionsAllowed: 1 })
    const scale = vi.spyOn(ResourceClient.prototype, 'scale').mockRejectedValue(error)
    const [first] = await simulated.pods()
    await pods().delete(first!)
    await simulated.settled(3).catch((thrown: unknown) => expect(thrown).toBe(error))
    const { status } = await get()
    expect(status?.disruptionsAllowed ?? 0).toBe(0)
    expect(status?.conditions).toMatchObject([{ status: 'False', reason: 'SyncFailed', message: error.message }])
    scale.mockRestore()
    await simulated.plane.pass(1_000_000)
    expect((await get()).status).toMatchObject({ disruptionsAllowed: 1 })
  })

  test('does not count a pod that was evicted, until it should have been deleted', async () => {
    await deploy(2)
    await simulated.settled(5)
    await guard({ minAvailable: 1 })
    const [first] = await simulated.pods()
    const disrupted = { [first!.metadata.name!]: '2026-01-01T00:00:08Z', other: '2026-01-01T00:00:08Z' }
    await budgets().updateStatusWithRetries(named('web'), (budget) => {
      budget.status = { ...budget.status, disruptedPods: disrupted, disruptionsAllowed: 0 }
    })
    await simulated.settled(1)
    expect((await get()).status).toMatchObject({
      currentHealthy: 1,
      disruptedPods: { [first!.metadata.name!]: expect.any(String) },
    })
    expect(Object.keys((await get()).status!.disruptedPods!)).toHaveLength(1)
    await simulated.plane.pass(200_000)
    expect((await get()).status).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 })
    expect((await get()).status?.disruptedPods).toBeUndefined()
    expect(await simulated.said('Pod')).toContain(
      "Warning controllermanager NotDeleted: Pod was expected by PDB default/default to be deleted but it wasn't",
    )
  })

  test('a pod that is not disrupted after all is said not to be', async () => {
    await pods().create(pod('alone'))
    await simulated.settled(3)
    await pods().updateStatusWithRetries(named('alone'), ({ status }) => {
      status!.conditions!.push({
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'EvictionByEvictionAPI',
        lastTransitionTime: '2026-01-01T00:00:03Z',
      })
    })
    await simulated.settled(1)
    const target = async () =>
      (await pods().get('alone'))?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.status
    expect(await target()).toBe('True')
    await simulated.plane.pass(120_000)
    expect(await target()).toBe('False')
  })
})
