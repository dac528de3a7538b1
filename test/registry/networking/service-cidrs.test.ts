import { expect, test } from 'vitest'
import { serviceCidrs } from '../../../src/registry/networking/service-cidrs.ts'
import type { StrategyContext } from '../../../src/registry/strategy.ts'
import { noteEmptied } from '../../../src/schema/emptied.ts'

const emptied: object = {}
noteEmptied(emptied, 'cidrs', [])

test.each([
  ['no list', {}, 'null'],
  ['an empty list', emptied, '[]'],
])('an update to %s of ranges is refused', async (_, spec, shown) => {
  const metadata = { name: 'a' }
  const old = { metadata, spec: { cidrs: ['10.99.0.0/24'] } }
  const errors = await serviceCidrs.validateUpdate!({ metadata, spec }, old, {} as StrategyContext)
  const message = `Invalid value: ${shown}: field is immutable`
  expect(errors.filter(({ field }) => field === 'spec.cidrs')).toEqual([
    { type: 'FieldValueInvalid', field: 'spec.cidrs', message },
  ])
})
