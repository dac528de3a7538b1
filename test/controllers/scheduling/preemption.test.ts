import { describe, expect, test } from 'vitest'
import { atOnce } from '../../../src/base/slices.ts'
import type { Pod } from '../../../src/api/core/v1.ts'
import type { PodDisruptionBudget } from '../../../src/api/policy/v1.ts'
import { NodeState } from '../../../src/controllers/scheduling/node-state.ts'
import { PodInfo } from '../../../src/controllers/scheduling/pod-info.ts'
import { preempt } from '../../../src/controllers/scheduling/preemption.ts'
import { filtersFor } from './filters-for.ts'
import { choose } from '../../../src/controllers/scheduling/schedule.ts'

/** `NAME PRIORITY CPU STARTED [LABEL]` */
function pod(text: string): Pod {
  const [name = '', priority = '0', cpu = '0', started = '0', app] = text.split(' ')
  return {
    metadata: { name, uid: name, namespace: 'default', ...(app === undefined ? {} : { labels: { app } }) },
    spec: { priority: Number(priority), containers: [{ name: 'c', resources: { requests: { cpu } } }] },
    status: { startTime: `2026-01-01T00:00:${started.padStart(2, '0')}Z` },
  }
}

/** With 4 cores and room for 5 pods. */
function node(name: string, ...pods: readonly string[]): NodeState {
  const state = new NodeState({
    metadata: { name, labels: { host: name } },
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '5' } },
  })
  for (const text of pods) state.add(new PodInfo(pod(text)))
  return state
}

const budget = (app: string, disruptionsAllowed: number): PodDisruptionBudget => ({
  metadata: { name: app, namespace: 'default' },
  spec: { selector: { matchLabels: { app } } },
  status: { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
})

function outcome(wanted: Pod, nodes: readonly NodeState[], budgets: readonly PodDisruptionBudget[] = []): string {
  const filters = filtersFor(wanted, nodes)
  const choice = atOnce(choose(filters))
  if ('node' in choice) return `fits ${choice.node.name}`
  const before = nodes.map(({ pods, requested }) => [[...pods.keys()].sort(), [...requested]])
  const preempted = atOnce(preempt(filters, choice, wanted, budgets))
  // the search leaves everything as it was
  expect(nodes.map(({ pods, requested }) => [[...pods.keys()].sort(), [...requested]])).toEqual(before)
  if ('message' in preempted) return preempted.message
  return `${preempted.node.name}: ${preempted.victims.map(({ name }) => name).join(' ')}`
}

const want = (cpu: string, more: Partial<Pod['spec']> = {}): Pod => {
  const wanted = pod(`wanted 100 ${cpu}`)
  return { ...wanted, spec: { ...wanted.spec, ...more } }
}

describe('for a pod of priority 100', () => {
  const none = 'preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.'
  test.each<[string, string, readonly NodeState[], string, PodDisruptionBudget[]?]>([
    ['equals are left alone', '2', [node('a', 'same 100 4')], none],
    ['the less important one goes', '2', [node('a', 'b 50 2', 'c 10 2')], 'a: c'],
    ['the younger of two equals goes', '2', [node('a', 'b 10 2 5', 'c 10 2 7')], 'a: c'],
    ['as few as possible go', '1', [node('a', 'b 10 1 1', 'c 10 1 2', 'd 10 1 3', 'e 10 1 4')], 'a: e'],
    ['several go where one is not enough', '3', [node('a', 'b 20 2 1', 'c 10 2 2')], 'a: b c'],
    ['the node with the least important victim is taken', '2', [node('a', 'b 50 4'), node('b', 'c 10 4')], 'b: c'],
    ['fewer victims are better', '4', [node('a', 'b 10 2', 'c 10 2'), node('b', 'd 10 4')], 'b: d'],
    ['the later start of the victim is better', '4', [node('a', 'b 10 4 1'), node('b', 'c 10 4 2')], 'b: c'],
    [
      'a budget is respected where that can be',
      '4',
      [node('a', 'b 10 4 1 kept'), node('b', 'c 50 4 1')],
      'b: c',
      [budget('kept', 0)],
    ],
    ['a budget does not hinder where all else fails', '4', [node('a', 'b 10 4 1 kept')], 'a: b', [budget('kept', 0)]],
    [
      'what violates a budget is spared first',
      '2',
      [node('a', 'b 10 2 1 kept', 'c 50 2 1')],
      'a: c',
      [budget('kept', 0)],
    ],
    [
      'a node that is too small is no help',
      '5',
      [node('a', 'b 10 4')],
      'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    ],
    [
      'it says what would still be missing',
      '3',
      [node('a', 'b 200 2', 'c 10 2')],
      'preemption: 0/1 nodes are available: 1 Insufficient cpu.',
    ],
  ])('%s', (_, cpu, nodes, expected, budgets) => {
    expect(outcome(want(cpu), nodes, budgets)).toBe(expected)
  })

  test('who is in the way by anti-affinity goes', () => {
    const apart = { topologyKey: 'host', labelSelector: { matchLabels: { app: 'web' } } }
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } }
    expect(outcome(want('1', { affinity }), [node('a', 'b 10 1 1 web', 'c 10 1 1')])).toBe('a: b')
  })

  test('who makes a group lopsided goes', () => {
    const even = {
      maxSkew: 1,
      topologyKey: 'host',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
    }
    const wanted = want('1', { topologySpreadConstraints: [even], nodeSelector: { host: 'a' } })
    wanted.metadata.labels = { app: 'web' }
    wanted.spec!.topologySpreadConstraints![0]!.nodeAffinityPolicy = 'Ignore'
    expect(outcome(wanted, [node('a', 'b 10 1 1 web', 'c 10 1 2'), node('b')])).toBe('a: b')
  })

  test('a place that is being made for it is waited for', () => {
    const state = node('a')
    const victim = pod('b 10 4')
    victim.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
    victim.status!.conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }]
    state.add(new PodInfo(victim))
    const wanted = want('2')
    wanted.status!.nominatedNodeName = 'a'
    expect(outcome(wanted, [state])).toBe('preemption: not eligible due to a terminating pod on the nominated node.')
  })
})

test('a place that is being made for a pod is not given to one that is no more important', () => {
  const state = node('a')
  const waiting = pod('waiting 100 3')
  waiting.status!.nominatedNodeName = 'a'
  state.nominated.set('waiting', new PodInfo(waiting))
  expect(outcome(pod('small 100 2'), [state])).toContain('No preemption victims found')
  expect(outcome(pod('larger 200 2'), [state])).toBe('fits a')
  expect(outcome(waiting, [state])).toBe('fits a')
})
