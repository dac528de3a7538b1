/** What kube-apiserver 1.36.3 says of selectors in DeviceClasses: the answers were recorded, the expressions are ours. */
import { expect, test } from 'vitest'
import { withSelectors } from '../../src/registry/resource/device-selectors.ts'
import { path } from '../../src/api/field.ts'
import recorded from './device-selectors.json' with { type: 'json' }

test.each(recorded.map(({ expression, message }) => [expression, message] as const))(
  '%s',
  async (expression, message) => {
    const selectors = [{ cel: { expression } }]
    const errors = await withSelectors(selectors, (errorsOf) => errorsOf(selectors, path('selectors')))
    expect(errors.map((error) => error.message)).toEqual(message === undefined ? [] : [message])
  },
)
