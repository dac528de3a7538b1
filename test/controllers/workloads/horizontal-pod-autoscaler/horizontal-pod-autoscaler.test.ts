import { beforeEach, describe, expect, test } from 'vitest'
import type { HorizontalPodAutoscalerSpec, MetricSpec } from '../../../../src/api/autoscaling/v2.ts'
import type { KubeObject } from '../../../../src/api/object.ts'
import { DEPLOYMENTS } from '../../../../src/controllers/workloads/deployment/deployment.ts'
import { AUTOSCALERS } from '../../../../src/controllers/workloads/horizontal-pod-autoscaler/horizontal-pod-autoscaler.ts'
import type { ScaleTarget } from '../../../../src/controllers/workloads/horizontal-pod-autoscaler/target.ts'
import { scaleTargetOf } from '../../../../src/controllers/workloads/horizontal-pod-autoscaler/target.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import { SimulatedPlane } from '../simulated-plane.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'

let simulated: SimulatedPlane
beforeEach(async () => {
  simulated = await SimulatedPlane.start('node-1', 'node-2')
})

const deployments = () => simulated.clients.resource(DEPLOYMENTS, 'default')
const autoscalers = () => simulated.clients.resource(AUTOSCALERS, 'default')
const get = async () => (await autoscalers().get('web'))!
const replicas = async () => (await deployments().get('web'))?.spec?.replicas

async function deploy(count: number, annotations: Record<string, string> = {}, name = 'web'): Promise<void> {
  await deployments().create({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: count,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name }, annotations },
        spec: {
          containers: [{ name: 'web', image: 'web:1', resources: { requests: { cpu: '1', memory: '64Mi' } } }],
        },
      },
    },
  })
}

const cpu = (averageUtilization: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})

async function autoscale(spec: HorizontalPodAutoscalerSpec = {}, name = 'web'): Promise<void> {
  await autoscalers().create({
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v2',
    metadata: { name, namespace: 'default' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      maxReplicas: 10,
      metrics: [cpu(50)],
      ...spec,
    },
  })
}

async function annotate(annotations: Record<string, string>): Promise<void> {
  for (const { metadata } of await simulated.pods())
    await simulated.clients
      .resource(PODS, 'default')
      .patch(named(metadata.name!), 'application/merge-patch+json', { metadata: { annotations } })
}

const conditions = async () =>
  (await get()).status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`)

const isAwake = () =>
  simulated.plane.waiting.some((work) => work.startsWith('horizontal-pod-autoscaler ') && !work.endsWith('Infinity'))

describe('an autoscaler', () => {
  test('comes to rest where its pods use what they are to use', async () => {
    await deploy(2)
    await autoscale()
    await simulated.settled(60)
    expect(await replicas()).toBe(2)
    const { status } = await get()
    expect(status).toMatchObject({
      currentReplicas: 2,
      desiredReplicas: 2,
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 50, averageValue: '500m' } } },
      ],
    })
    expect(await conditions()).toEqual([
      'AbleToScale=True ReadyForNewScale',
      'ScalingActive=True ValidMetricFound',
      'ScalingLimited=False DesiredWithinRange',
    ])
    expect(isAwake()).toBe(false)
  })

  test('follows usage up, at most to the double at once, and tells', async () => {
    await deploy(3, { 'kedge.dev/usage-cpu': '1500m' })
    await autoscale({ maxReplicas: 20 })
    const seen: number[] = []
    for (let second = 0; second < 180; second++) {
      await simulated.settled(1)
      const count = (await replicas())!
      if (seen.at(-1) !== count) seen.push(count)
    }
    expect(seen).toEqual([3, 6, 12, 20])
    expect(await conditions()).toContain('ScalingLimited=True TooManyReplicas')
    expect(await simulated.said('HorizontalPodAutoscaler')).toContain(
      'Normal horizontal-pod-autoscaler SuccessfulRescale: New size: 6; reason: cpu resource utilization (percentage of request) above target',
    )
    expect(isAwake()).toBe(false)
  })

  test('follows usage down after five minutes, and sleeps meanwhile', async () => {
    await deploy(4)
    await autoscale()
    await simulated.settled(60)
    expect(isAwake()).toBe(false)
    await annotate({ 'kedge.dev/usage-cpu': '100m' })
    await simulated.settled(60)
    expect(await replicas()).toBe(4)
    expect(await conditions()).toContain('AbleToScale=True ScaleDownStabilized')
    simulated.plane.tried.length = 0
    await simulated.settled(180)
    expect(simulated.plane.tried).not.toContain('horizontal-pod-autoscaler')
    await simulated.settled(120)
    expect(await replicas()).toBe(1)
    expect(await simulated.said('HorizontalPodAutoscaler')).toContain(
      'Normal horizontal-pod-autoscaler SuccessfulRescale: New size: 1; reason: All metrics below target',
    )
    expect((await get()).status?.lastScaleTime).toBeDefined()
  })

  test.each([
    [1, { minReplicas: 3 }, 3, 'New size: 3; reason: Current number of replicas below Spec.MinReplicas'],
    [8, { maxReplicas: 5 }, 5, 'New size: 5; reason: Current number of replicas above Spec.MaxReplicas'],
  ])('%i replicas with %j become %i without metrics', async (count, spec, expected, message) => {
    await deploy(count)
    await autoscale(spec)
    await simulated.settled(16)
    expect(await replicas()).toBe(expected)
    expect(await simulated.said('HorizontalPodAutoscaler')).toContain(
      `Normal horizontal-pod-autoscaler SuccessfulRescale: ${message}`,
    )
  })

  test('without a target says so once, and waits for it asleep', async () => {
    await autoscale()
    await simulated.settled(60)
    expect(await conditions()).toEqual(['AbleToScale=False FailedGetScale'])
    expect(await simulated.said('HorizontalPodAutoscaler')).toEqual([
      'Warning horizontal-pod-autoscaler FailedGetScale: deployments.apps "web" not found',
    ])
    expect(isAwake()).toBe(false)
    await deploy(1)
    await simulated.settled(60)
    expect(await conditions()).toContain('AbleToScale=True ReadyForNewScale')
  })

  test('of nothing is off, and on again when there is something', async () => {
    await deploy(0)
    await autoscale()
    await simulated.settled(40)
    expect(await conditions()).toEqual(['AbleToScale=True SucceededGetScale', 'ScalingActive=False ScalingDisabled'])
    expect(isAwake()).toBe(false)
    await deployments().patch(named('web'), 'application/merge-patch+json', { spec: { replicas: 2 } })
    await simulated.settled(60)
    expect(await conditions()).toContain('ScalingActive=True ValidMetricFound')
  })

  test.each([
    [
      { type: 'Pods', pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '10' } } },
      'FailedGetPodsMetric',
      'unable to get metric qps: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered',
      'failed to get pods metric value: ',
    ],
    [
      {
        type: 'Object',
        object: {
          describedObject: { apiVersion: 'v1', kind: 'Service', name: 'web' },
          metric: { name: 'qps' },
          target: { type: 'Value', value: '10' },
        },
      },
      'FailedGetObjectMetric',
      'unable to get metric qps: Service on default web/unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered',
      'failed to get object metric value: ',
    ],
    [
      {
        type: 'External',
        external: { metric: { name: 'length' }, target: { type: 'AverageValue', averageValue: '10' } },
      },
      'FailedGetExternalMetric',
      'unable to get external metric default/length/nil: unable to fetch metrics from external metrics API: the server could not find the requested resource (get length.external.metrics.k8s.io)',
      'failed to get length external metric value: failed to get length external metric: ',
    ],
    [
      { type: 'ContainerResource', containerResource: { ...cpu(50).resource, container: 'other' } },
      'FailedGetContainerResourceMetric',
      'failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)',
      'failed to get other container metric value: ',
    ],
    [
      { type: 'Resource', resource: { name: 'ephemeral-storage', target: cpu(50).resource!.target! } },
      'FailedGetResourceMetric',
      'failed to get ephemeral-storage utilization: did not receive metrics for targeted pods (pods might be unready)',
      'failed to get ephemeral-storage resource metric value: ',
    ],
  ] satisfies [MetricSpec, string, string, string][])(
    'of a metric that nobody serves says why: %j',
    async (metric, reason, why, within) => {
      await deploy(2)
      await autoscale({ metrics: [metric] })
      await simulated.settled(60)
      const { status } = await get()
      expect(status).toMatchObject({ currentReplicas: 2, desiredReplicas: 0, currentMetrics: [{ type: '' }] })
      expect(status?.conditions?.find(({ type }) => type === 'ScalingActive')).toMatchObject({
        status: 'False',
        reason,
        message: `the HPA was unable to compute the replica count: ${why}`,
      })
      expect(await simulated.said('HorizontalPodAutoscaler')).toEqual([
        `Warning horizontal-pod-autoscaler FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: ${within}${why}`,
        `Warning horizontal-pod-autoscaler ${reason}: ${why}`,
      ])
      expect(isAwake()).toBe(false)
    },
  )

  test('is not the second one of the same pods', async () => {
    await deploy(2)
    await autoscale()
    await autoscale({}, 'web-too')
    await simulated.settled(60)
    const message = 'pods by selector app=web are controlled by multiple HPAs: [default/web default/web-too]'
    for (const name of ['web', 'web-too'])
      expect((await autoscalers().get(name))?.status?.conditions).toContainEqual(
        expect.objectContaining({ type: 'ScalingActive', status: 'False', reason: 'AmbiguousSelector', message }),
      )
  })

  test.each([
    ['goes', () => simulated.plane.delete(AUTOSCALERS, 'default', 'web-too')],
    [
      'turns to other pods',
      () =>
        autoscalers().updateWithRetries(named('web-too'), ({ spec }) => void (spec!.scaleTargetRef!.name = 'other')),
    ],
  ])('that came to rest stops when a second one of its pods comes, and goes on when that %s', async (_, part) => {
    const active = async () => (await conditions())?.find((condition) => condition.startsWith('ScalingActive'))
    await deploy(2)
    await deploy(1, {}, 'other')
    await autoscale()
    await simulated.settled(60)
    await autoscale({}, 'web-too')
    await simulated.settled(60)
    expect(await active()).toBe('ScalingActive=False AmbiguousSelector')
    expect(isAwake()).toBe(false)
    await part()
    await simulated.settled(60)
    expect(await active()).toBe('ScalingActive=True ValidMetricFound')
    expect(isAwake()).toBe(false)
  })

  test('is gone with all that was remembered of it', async () => {
    await deploy(2)
    await autoscale()
    await simulated.settled(60)
    expect([...simulated.plane.sightings.keys()]).toContain('autoscaler/default/web')
    await simulated.plane.delete(AUTOSCALERS, 'default', 'web')
    await simulated.settled(20)
    expect([...simulated.plane.sightings.keys()]).not.toContain('autoscaler/default/web')
  })

  test('keeps to the policies of its behavior', async () => {
    await deploy(2, { 'kedge.dev/usage-cpu': '5' })
    const policies = [{ type: 'Pods', value: 1, periodSeconds: 60 }]
    await autoscale({ maxReplicas: 5, behavior: { scaleUp: { policies } } })
    const seen = new Map<number, number>()
    for (let second = 0; second < 300; second++) {
      await simulated.settled(1)
      const count = (await replicas())!
      if (!seen.has(count)) seen.set(count, second)
    }
    const [first, second, third] = [3, 4, 5].map((count) => seen.get(count)!)
    expect(second! - first!).toBeGreaterThanOrEqual(60)
    expect(third! - second!).toBeGreaterThanOrEqual(60)
    expect(await conditions()).toContain('ScalingLimited=True TooManyReplicas')
  })
})

const FARMS = { group: 'example.com', resource: 'farms' }

async function plant(scope: 'Namespaced' | 'Cluster'): Promise<void> {
  const { plane } = simulated
  await plane.create(
    { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'farms.example.com' },
      spec: {
        group: 'example.com',
        scope,
        names: { plural: 'farms', kind: 'Farm' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            subresources: {
              status: {},
              scale: {
                specReplicasPath: '.spec.replicas',
                statusReplicasPath: '.status.replicas',
                labelSelectorPath: '.status.selector',
              },
            },
          },
        ],
      },
    },
  )
  await plane.settle()
  await plane.create(FARMS, {
    apiVersion: 'example.com/v1',
    kind: 'Farm',
    metadata: { name: 'web', ...(scope === 'Cluster' ? {} : { namespace: 'default' }) },
    spec: { replicas: 2 },
  })
}

const farmReplicas = async (namespace: string) =>
  ((await simulated.plane.get(FARMS, namespace, 'web')) as KubeObject & { spec: { replicas: number } }).spec.replicas

const ofFarm = { minReplicas: 4, scaleTargetRef: { apiVersion: 'example.com/v1', kind: 'Farm', name: 'web' } }

test('a custom resource is scaled as well', async () => {
  await plant('Namespaced')
  await autoscale(ofFarm)
  await simulated.settled(20)
  expect(await farmReplicas('default')).toBe(4)
})

test('a cluster-scoped resource is not scaled: the right to autoscale is one in a namespace', async () => {
  await plant('Cluster')
  await autoscale(ofFarm)
  await simulated.settled(20)
  expect(await farmReplicas('')).toBe(2)
  expect(await simulated.said('HorizontalPodAutoscaler')).toEqual([
    'Warning horizontal-pod-autoscaler FailedGetScale: the server could not find the requested resource',
  ])
})

describe('a target that was written since its pods were looked at', () => {
  async function target(): Promise<ScaleTarget> {
    const context = await simulated.plane.context('horizontal-pod-autoscaler')
    const found = await scaleTargetOf(context, simulated.clients, 'default', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'web',
    })
    if ('why' in found) throw new Error(found.why)
    return found
  }

  test('is scaled', async () => {
    await deploy(2)
    const found = await target()
    await deployments().patch(named('web'), 'application/merge-patch+json', { metadata: { labels: { a: 'b' } } })
    await found.scaleTo(5)
    expect(await replicas()).toBe(5)
  })

  test('is left alone where it is another object by now', async () => {
    await deploy(2)
    const found = await target()
    await deployments().delete(named('web'))
    await deploy(3)
    await expect(found.scaleTo(5)).rejects.toMatchObject({ code: 409 })
    expect(await replicas()).toBe(3)
  })
})
