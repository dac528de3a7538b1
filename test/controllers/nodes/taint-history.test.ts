import { expect, test } from 'vitest'
import type { Taint } from '../../../src/api/core/v1.ts'
import type { TaintHistory } from '../../../src/controllers/nodes/taint-history.ts'
import { historyOf, leavesAt, sightingOf, withTaints } from '../../../src/controllers/nodes/taint-history.ts'
import { plainPod } from '../plain-pod.ts'

const taint = (key: string, value = ''): Taint => ({ key, value, effect: 'NoExecute' })
const pod = {
  ...plainPod('web', { tolerations: [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }] }),
  metadata: { name: 'web', creationTimestamp: '1970-01-01T00:00:01Z' },
}
const after = (...changes: readonly (readonly Taint[])[]): TaintHistory =>
  changes.reduce<TaintHistory>((history, taints, at) => withTaints(history, taints, (at + 1) * 10_000), [])

test('a history is written and read, also that of an earlier release', () => {
  const history = after([taint('a')], [taint('a'), taint('b')])
  expect(historyOf(sightingOf(history))).toEqual(history)
  expect(historyOf({ record: JSON.stringify([taint('a')]), time: 5_000 })).toEqual([
    { at: 5_000, taints: [taint('a')] },
  ])
  expect(sightingOf(historyOf(undefined))).toBeUndefined()
})

test('equal taints are no change, whenever they were added', () => {
  const history = after([taint('a')])
  expect(withTaints(history, [{ ...taint('a'), timeAdded: '2026-01-01T00:00:00Z' }], 99_000)).toBe(history)
})

test('many changes are remembered in bounds, and the first one keeps its time', () => {
  const history = after(...Array.from({ length: 100 }, (_, n) => [taint('a', `v${n}`)]))
  expect(history).toHaveLength(32)
  expect(leavesAt(history, pod)).toBe(10_000 + 60_000)
})

test('large taints are remembered once', () => {
  const large = (value: string) => Array.from({ length: 1_000 }, (_, n) => taint(`key-${n}`, value.repeat(60)))
  const history = after(large('a'), large('b'), large('c'))
  expect(history).toEqual([{ at: 10_000, taints: large('c') }])
})
