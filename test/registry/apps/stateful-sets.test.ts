import { expect, test } from 'vitest'
import { statefulSets } from '../../../src/registry/apps/stateful-sets.ts'
import type { StrategyContext } from '../../../src/registry/strategy.ts'

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }

// kube-apiserver's internal type has a partition that is no pointer
test.each([
  ['OnDelete', 'spec.updateStrategy.rollingUpdate', '{"Partition":0,"MaxUnavailable":null}'],
  ['Other', 'spec.updateStrategy', '{"Type":"Other","RollingUpdate":{"Partition":0,"MaxUnavailable":null}}'],
])('an error about the strategy %s shows the partition', async (type, field, shown) => {
  const updateStrategy = { type, rollingUpdate: {} }
  const set = { metadata: { name: 'web' }, spec: { selector: { matchLabels: labels }, template, updateStrategy } }
  const context = { enabled: () => true } as unknown as StrategyContext // validation uses nothing else
  const errors = (await statefulSets.validate?.(set, context)) ?? []
  expect(errors.find((error) => error.field === field)?.message).toContain(`Invalid value: ${shown}: `)
})
