import { describe, expect, test } from 'vitest'
import type { Pod } from '../../../../src/api/core/v1.ts'
import type { PodMetric, Proposal } from '../../../../src/controllers/workloads/horizontal-pod-autoscaler/replicas.ts'
import {
  averageProposal,
  MetricFailure,
  shareProposal,
  utilizationProposal,
  valueProposal,
} from '../../../../src/controllers/workloads/horizontal-pod-autoscaler/replicas.ts'

const NOW = Date.parse('2026-01-01T01:00:00Z')
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString()
const tolerances = { down: 0.1, up: 0.1 }

interface Given {
  /** Thousandths of a core; undefined: nothing is known. */
  readonly uses?: number
  readonly requests?: string
  readonly phase?: string
  readonly ready?: boolean
  /** Seconds ago. */
  readonly started?: number
  readonly changed?: number
  readonly deleted?: boolean
}

const podOf = (given: Given, index: number): Pod => ({
  metadata: { name: `pod-${index}`, ...(given.deleted ? { deletionTimestamp: ago(1) } : {}) },
  spec: { containers: [{ name: 'main', resources: { requests: { cpu: given.requests ?? '1' } } }] },
  status: {
    phase: given.phase ?? 'Running',
    startTime: ago(given.started ?? 3000),
    conditions: [
      {
        type: 'Ready',
        status: given.ready === false ? 'False' : 'True',
        lastTransitionTime: ago(given.changed ?? 2000),
      },
    ],
  },
})

function given(current: number, pods: readonly Given[]) {
  const metrics = new Map<string, PodMetric>()
  for (const [index, { uses }] of pods.entries())
    if (uses !== undefined) metrics.set(`pod-${index}`, { timestamp: NOW, window: 60_000, value: BigInt(uses) })
  return { calculation: { current, tolerances, pods: pods.map(podOf), now: NOW }, metrics }
}

const each = (count: number, pod: Given): Given[] => Array.from({ length: count }, () => pod)
const textOf = ({ replicas, usage, utilization }: Proposal) =>
  `${replicas} at ${usage}m${utilization === undefined ? '' : `, ${utilization} %`}`

describe('by per cent of requests', () => {
  test.each<[string, number, readonly Given[], number, string]>([
    ['more than wanted', 3, [{ uses: 300 }, { uses: 500 }, { uses: 700 }], 30, '5 at 500m, 50 %'],
    ['less than wanted', 5, each(5, { uses: 100 }), 50, '1 at 100m, 10 %'],
    ['within the tolerance', 3, each(3, { uses: 530 }), 50, '3 at 530m, 53 %'],
    ['requests of several sizes', 2, [{ uses: 900, requests: '2' }, { uses: 300 }], 40, '2 at 600m, 40 %'],
    ['nobody knows one, which counts as idle', 3, [{ uses: 900 }, { uses: 900 }, {}], 50, '4 at 900m, 90 %'],
    ['nobody knows one, which counts as busy', 3, [{ uses: 100 }, { uses: 100 }, {}], 50, '3 at 100m, 10 %'],
    ['busy is the target where that is more', 2, [{ uses: 900 }, {}], 200, '2 at 900m, 90 %'],
    [
      'one is not ready yet, and idle',
      3,
      [{ uses: 900 }, { uses: 900 }, { uses: 900, ready: false, started: 20, changed: 20 }],
      50,
      '4 at 900m, 90 %',
    ],
    [
      'it was ready once, so that its usage counts',
      2,
      each(2, { uses: 1000, ready: false, started: 3000, changed: 100 }),
      50,
      '4 at 1000m, 100 %',
    ],
    [
      'not a whole window is over since it was ready',
      2,
      [{ uses: 1000 }, { uses: 1000, started: 100, changed: 30 }],
      50,
      '2 at 1000m, 100 %',
    ],
    [
      'pending ones are idle',
      4,
      [{ uses: 900 }, { uses: 900 }, ...each(2, { phase: 'Pending' })],
      60,
      '4 at 900m, 90 %',
    ],
    [
      'those that failed or go do not count',
      4,
      [{ uses: 900 }, { uses: 900, deleted: true }, { uses: 1, phase: 'Failed' }],
      45,
      '2 at 900m, 90 %',
    ],
    ['more pods than wanted replicas turn nothing around', 1, each(4, { uses: 100 }), 20, '2 at 100m, 10 %'],
  ])('%s', (_, current, pods, target, expected) => {
    const { calculation, metrics } = given(current, pods)
    const found = utilizationProposal(calculation, metrics, { resource: 'cpu', container: '', target })
    expect(textOf(found)).toBe(expected)
  })

  test.each<[string, readonly Given[], string, string]>([
    ['no pods', [], '', 'no pods returned by selector while calculating replica count'],
    [
      'none is ready',
      each(2, { uses: 1, phase: 'Pending' }),
      '',
      'did not receive metrics for targeted pods (pods might be unready)',
    ],
    ['nothing is requested', each(1, { uses: 1, requests: '0' }), '', 'no metrics returned matched known pods'],
    ['no such container', each(1, { uses: 1 }), 'other', 'container other not found in Pod pod-0'],
  ])('%s: no number', (_, pods, container, why) => {
    const { calculation, metrics } = given(1, pods)
    const ask = { resource: 'cpu', container, target: 50 }
    expect(() => utilizationProposal(calculation, metrics, ask)).toThrow(new MetricFailure(why))
  })

  test('a container that requests nothing is told', () => {
    const { calculation } = given(1, [{}])
    const metrics = new Map([['pod-0', { timestamp: NOW, window: 0, value: 1n }]])
    expect(() => utilizationProposal(calculation, metrics, { resource: 'memory', container: '', target: 50 })).toThrow(
      'missing request for memory in container main of Pod pod-0',
    )
  })

  test('what a pod requests as a whole is before what its containers do', () => {
    const { calculation, metrics } = given(1, [{ uses: 1000 }])
    const [pod] = calculation.pods
    pod!.spec!.resources = { requests: { cpu: '4' } }
    const found = utilizationProposal(calculation, metrics, { resource: 'cpu', container: '', target: 50 })
    expect(textOf(found)).toBe('1 at 1000m, 25 %')
  })
})

describe('by an average', () => {
  test.each<[string, number, readonly Given[], bigint, boolean, string]>([
    ['more than wanted', 3, each(3, { uses: 20_000 }), 15_000n, false, '4 at 20000m'],
    ['less than wanted', 4, each(4, { uses: 5_000 }), 20_000n, false, '1 at 5000m'],
    ['nobody knows one, which counts as it should be', 3, [{ uses: 5 }, { uses: 5 }, {}], 10n, false, '2 at 5m'],
    [
      'readiness matters for cpu',
      2,
      [{ uses: 100 }, { uses: 100, ready: false, started: 20, changed: 20 }],
      50n,
      true,
      '2 at 100m',
    ],
    [
      'and for nothing else',
      2,
      [{ uses: 100 }, { uses: 100, ready: false, started: 20, changed: 20 }],
      50n,
      false,
      '4 at 100m',
    ],
  ])('%s', (_, current, pods, target, isCpu, expected) => {
    const { calculation, metrics } = given(current, pods)
    expect(textOf(averageProposal(calculation, metrics, target, isCpu))).toBe(expected)
  })
})

describe('by one value', () => {
  test.each<[string, number, readonly Given[], bigint, bigint, string]>([
    ['for all that are ready', 3, [{}, {}, { ready: false }], 20_000n, 10_000n, '4 at 20000m'],
    ['within the tolerance', 3, each(3, {}), 10_900n, 10_000n, '3 at 10900m'],
    ['from nothing', 0, [], 25_000n, 10_000n, '3 at 25000m'],
    ['to nothing', 2, each(2, {}), 0n, 10_000n, '0 at 0m'],
    ['never more than fit', 2, each(2, {}), 2n ** 62n, 1n, '2147483647 at 4611686018427387904m'],
  ])('%s', (_, current, pods, usage, target, expected) => {
    expect(textOf(valueProposal(given(current, pods).calculation, usage, target))).toBe(expected)
  })

  test.each([
    [3, 300n, 50n, '6 at 100m'],
    [3, 160n, 50n, '3 at 54m'],
    [3, 0n, 50n, '0 at 0m'],
    [0, 120n, 50n, '3 at 120m'],
  ])('a share for each of %i: %i of %i', (replicas, usage, target, expected) => {
    expect(textOf(shareProposal(tolerances, replicas, usage, target))).toBe(expected)
  })
})
