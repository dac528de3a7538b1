import { expect, test } from 'vitest'
import type { Pod } from '../../../../src/api/core/v1.ts'
import { isAvailable, untilAvailable } from '../../../../src/controllers/workloads/pods/pod-state.ts'

const NOW = new Date('2026-01-01T00:01:00Z')

test.each<[string, string, string | undefined, number, number | undefined]>([
  ['not ready', 'False', '2026-01-01T00:00:00Z', 0, undefined],
  ['ready, with no time to wait', 'True', '2026-01-01T00:01:00Z', 0, 0],
  ['ready for too short a time', 'True', '2026-01-01T00:00:30Z', 40, 10_000],
  ['ready for exactly as long', 'True', '2026-01-01T00:00:30Z', 30, 0],
  ['ready since nobody knows when, with no time to wait', 'True', undefined, 0, 0],
  ['ready since nobody knows when', 'True', undefined, 30, undefined],
])('a pod that is %s', (_name, status, lastTransitionTime, minReadySeconds, wait) => {
  const time = lastTransitionTime === undefined ? {} : { lastTransitionTime }
  const pod: Pod = { metadata: {}, status: { conditions: [{ type: 'Ready', status, ...time }] } }
  expect(untilAvailable(pod, minReadySeconds, NOW)).toBe(wait)
  expect(isAvailable(pod, minReadySeconds, NOW)).toBe(wait === 0)
})
