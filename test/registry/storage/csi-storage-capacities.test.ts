import { expect, test } from 'vitest'
import type { CSIStorageCapacity } from '../../../src/api/storage/v1.ts'
import { csiStorageCapacities } from '../../../src/registry/storage/csi-storage-capacities.ts'
import type { StrategyContext } from '../../../src/registry/strategy.ts'

const capacity = (nodeTopology?: CSIStorageCapacity['nodeTopology']): CSIStorageCapacity => ({
  metadata: { name: 'a', namespace: 'n', resourceVersion: '1' },
  storageClassName: 'fast',
  ...(nodeTopology && { nodeTopology }),
})
const context = { enabled: () => true } as unknown as StrategyContext

const values = ['v']
const requirement = { key: 'k', operator: 'In', values }

test.each([
  [
    'the order of the fields, not that of a patch',
    { matchExpressions: [{ values, operator: 'In', key: 'k' }], matchLabels: { b: '1', a: '2' } },
    { matchLabels: { a: '2', b: '1' }, matchExpressions: [requirement] },
  ],
  ['nothing', undefined, null],
])('the topology in a refusal: %s', async (_, nodeTopology, shown) => {
  const old = capacity({ matchLabels: { x: 'y' } })
  const errors = await csiStorageCapacities.validateUpdate!(capacity(nodeTopology), old, context)
  const message = `Invalid value: ${JSON.stringify(shown)}: field is immutable`
  expect(errors).toEqual([{ type: 'FieldValueInvalid', field: 'nodeTopology', message }])
})
