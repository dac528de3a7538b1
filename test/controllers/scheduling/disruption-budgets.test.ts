import { expect, test } from 'vitest'
import type { PodDisruptionBudget } from '../../../src/api/policy/v1.ts'
import { keptBudgets } from '../../../src/controllers/scheduling/disruption-budgets.ts'

const budget = (namespace: string, name: string, length = 1): PodDisruptionBudget => ({
  metadata: { name, namespace, uid: 'u' },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'x'.repeat(length) } } },
  status: { disruptionsAllowed: 2 },
})

async function* each(...budgets: PodDisruptionBudget[]) {
  yield* budgets
}

test('what preemption reads of budgets is kept', async () => {
  expect(await keptBudgets(each(budget('a', 'one')))).toEqual([
    {
      metadata: { name: 'one', namespace: 'a' },
      spec: { selector: { matchLabels: { app: 'x' } } },
      status: { disruptionsAllowed: 2 },
    },
  ])
})

test('of a namespace with too long ones nothing may be disrupted, and others keep theirs', async () => {
  const long = Array.from({ length: 50 }, (_, n) => budget('greedy', `b${n}`, 300_000))
  const kept = await keptBudgets(each(budget('a', 'one'), ...long, budget('b', 'two')))
  expect(kept.map(({ metadata, status }) => [metadata.namespace, metadata.name, status?.disruptionsAllowed])).toEqual([
    ['a', 'one', 2],
    ['greedy', '', 0],
    ['b', 'two', 2],
  ])
})
