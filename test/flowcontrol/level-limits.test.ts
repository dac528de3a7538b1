import { expect, test } from 'vitest'
import { levelLimits } from '../../src/flowcontrol/level-limits.ts'
import { dealtQueues } from '../../src/flowcontrol/shuffle-shard.ts'
import { controlSnapshot } from '../../src/tenancy/control-snapshot.ts'
import { memoryServer } from '../request-in-memory.ts'

const LEVELS = { group: 'flowcontrol.apiserver.k8s.io', resource: 'prioritylevelconfigurations' }

test('the seats of a fresh control plane, of 600', async () => {
  const levels = (await controlSnapshot(memoryServer())).list(LEVELS)
  const limits = levelLimits(levels, 600)
  const seats = [...limits].flatMap(([name, of]) =>
    of.kind === 'exempt' ? [] : [[name, of.nominal, of.lower, of.upper]],
  )
  expect(seats.sort()).toEqual([
    ['catch-all', 13, 13, 613],
    ['global-default', 49, 24, 649],
    ['leader-election', 25, 25, 625],
    ['node-high', 98, 73, 698],
    ['system', 74, 50, 674],
    ['workload-high', 98, 49, 698],
    ['workload-low', 245, 24, 845],
  ])
  expect(limits.get('exempt')).toEqual({ kind: 'exempt' })
  expect(limits.get('global-default')).toMatchObject({ queuing: { queues: 128, handSize: 6, queueLengthLimit: 50 } })
})

test('without any level the mandatory ones remain', () => {
  expect([...levelLimits([], 10).keys()]).toEqual(['exempt', 'catch-all'])
})

test('a hand is the same for a flow, of different queues, and seldom that of another flow', () => {
  const hands = Array.from({ length: 500 }, (_, n) => dealtQueues(`user-${n}`, 128, 6))
  for (const [n, hand] of hands.entries()) {
    expect(new Set(hand).size).toBe(6)
    expect(hand.every((queue) => queue >= 0 && queue < 128)).toBe(true)
    expect(dealtQueues(`user-${n}`, 128, 6)).toEqual(hand)
  }
  expect(new Set(hands.map((hand) => hand.toSorted().join())).size).toBe(500)
  expect(new Set(hands.flat()).size).toBe(128)
  expect(dealtQueues('few', 3, 8).toSorted()).toEqual([0, 1, 2])
})
