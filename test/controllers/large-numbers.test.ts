/** Whole numbers beyond 2^53 are bigint in memory, and users may write them into every field of 64 bits. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Node } from '../../src/api/core/v1.ts'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'
import { durationOf } from '../../src/go/duration.ts'
import { nextInt64 } from '../../src/go/int.ts'
import { ControlPlaneInMemory } from './control-plane.ts'
import { named } from '../../src/controllers/client/resource-client.ts'

const LARGEST = 2n ** 63n - 1n
const containers = [{ name: 'c', image: 'i' }]
const PODS = { group: '', resource: 'pods' }
const NODES = { group: '', resource: 'nodes' }
const NAMESPACES = { group: '', resource: 'namespaces' }

let plane: ControlPlaneInMemory
beforeEach(async () => {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  const metadata = { name: 'n', labels: { 'kedge.dev/simulated': 'true' } }
  await plane.create(NODES, { kind: 'Node', apiVersion: 'v1', metadata })
  await plane.settle()
})

async function pod(name: string, spec: JsonObject, namespace = 'default'): Promise<void> {
  const metadata = { name, namespace }
  await plane.create(PODS, { kind: 'Pod', apiVersion: 'v1', metadata, spec: { nodeName: 'n', containers, ...spec } })
  await plane.settle()
}

describe('the largest number', () => {
  test('of seconds that a pod tolerates a taint is for ever, and other pods are evicted', async () => {
    const toleration = { key: 'bad', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: LARGEST }
    await pod('ever', { tolerations: [toleration] })
    await pod('other', { tolerations: [{ ...toleration, tolerationSeconds: 10 }] })
    await (
      await plane.client(NODES, '')
    ).updateWithRetries(named('n'), (node) => {
      const { spec } = node as KubeObject & Node
      Object.assign(spec!, { taints: [{ key: 'bad', effect: 'NoExecute' }] })
    })
    await plane.settle()
    await plane.pass(10_000)
    expect(await plane.names(PODS, 'default')).toEqual(['ever'])
    expect(plane.waiting.filter((work) => work.startsWith('taint-eviction'))).toEqual([])
  })

  // time.Duration wraps around: the grace period has ended a second before
  test.each([LARGEST, 2n ** 53n, 10n ** 13n])('of seconds of grace (%s) lets a pod be deleted', async (seconds) => {
    await pod('slow', { terminationGracePeriodSeconds: Number(seconds) < 2 ** 53 ? Number(seconds) : seconds })
    await plane.delete(PODS, 'default', 'slow')
    await plane.pass(1_000)
    expect(await plane.names(PODS, 'default')).toEqual([])
  })

  test('of seconds of grace lets a namespace go', async () => {
    await plane.create(NAMESPACES, {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name: 'shop' },
      spec: { finalizers: ['kubernetes'] },
    })
    await pod('slow', { terminationGracePeriodSeconds: LARGEST }, 'shop')
    await plane.delete(NAMESPACES, '', 'shop')
    for (let second = 0; second < 30; second++) await plane.pass(1_000)
    expect((await plane.names(NAMESPACES)).includes('shop')).toBe(false)
  })

  test.each<[string, JsonObject]>([
    ['deadline of a Job', { kind: 'Job', apiVersion: 'batch/v1', spec: { activeDeadlineSeconds: LARGEST } }],
    [
      'deadline for the start of a CronJob',
      {
        kind: 'CronJob',
        apiVersion: 'batch/v1',
        spec: { schedule: '* * * * *', startingDeadlineSeconds: LARGEST, jobTemplate: { spec: {} } },
      },
    ],
  ])('as %s stops no controller', async (_, { kind, apiVersion, spec }) => {
    const template = { spec: { restartPolicy: 'Never', containers } }
    const { jobTemplate, ...rest } = spec as JsonObject
    await plane.create(
      { group: 'batch', resource: `${String(kind).toLowerCase()}s` },
      {
        kind: kind!,
        apiVersion: apiVersion!,
        metadata: { name: 'x', namespace: 'default' },
        spec: { ...rest, ...(jobTemplate === undefined ? { template } : { jobTemplate: { spec: { template } } }) },
      },
    )
    await plane.settle()
    await plane.pass(61_000)
  })

  test('of a revision stops no StatefulSet', async () => {
    const labels = { app: 'db' }
    const REVISIONS = { group: 'apps', resource: 'controllerrevisions' }
    await plane.create(REVISIONS, {
      kind: 'ControllerRevision',
      apiVersion: 'apps/v1',
      metadata: { name: 'a', namespace: 'default', labels },
      revision: LARGEST - 1n,
      data: {},
    })
    await plane.create(
      { group: 'apps', resource: 'statefulsets' },
      {
        kind: 'StatefulSet',
        apiVersion: 'apps/v1',
        metadata: { name: 'db', namespace: 'default' },
        spec: {
          replicas: 1,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers } },
        },
      },
    )
    await plane.settle()
    expect(await plane.names(PODS, 'default')).toEqual(['db-0'])
    expect(await plane.names(REVISIONS, 'default')).toHaveLength(2)
  })
})

test.each<[number | bigint, number]>([
  [30, 30_000],
  [-1, -1_000],
  [9_223_372_036, 9_223_372_036_000],
  [9_223_372_037, -9_223_372_036_709],
  [LARGEST, -1_000],
])('a Duration of %s seconds has %s milliseconds', (seconds, milliseconds) => {
  expect(durationOf(seconds)).toBe(milliseconds)
})

test.each<[number | bigint, number | bigint]>([
  [1, 2],
  [2 ** 53 - 1, 2n ** 53n],
  [-(2n ** 53n), -(2 ** 53 - 1)],
  [LARGEST, -LARGEST - 1n],
])('the int64 after %s is %s', (value, next) => {
  expect(nextInt64(value)).toBe(next)
})
