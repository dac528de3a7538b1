import { expect, test } from 'vitest'
import { runtimeClasses } from '../../../src/registry/node/runtime-classes.ts'
import type { StrategyContext } from '../../../src/registry/strategy.ts'

test.each([true, false])('a toleration by comparison is refused, whatever the feature gates: %s', async (on) => {
  const tolerations = [{ key: 'k', operator: 'Gt', value: '5' }]
  const one = { metadata: { name: 'a' }, handler: 'h', scheduling: { tolerations } }
  const context = { enabled: () => on } as unknown as StrategyContext
  const message = 'Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"'
  expect(await runtimeClasses.validate!(one, context)).toEqual([
    { type: 'FieldValueNotSupported', field: 'scheduling.tolerations[0].operator', message },
  ])
})
