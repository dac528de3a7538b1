import type { ResourceClaim } from '../../api/resource/v1.ts'
import { Quantity } from '../../schema/quantity.ts'
import type { Amounts } from './amounts.ts'
import { ONE, larger, sum } from './amounts.ts'
import type { Evaluator } from './evaluator.ts'

const COUNT = 'count/resourceclaims.resource.k8s.io'
const OF_CLASS = '.deviceclass.resource.k8s.io/devices'

/** No claim gets more devices than that. */
const MOST_DEVICES = 32

interface Asked {
  readonly deviceClassName?: string
  readonly allocationMode?: string
  readonly count?: number | string
}

/** Claims of devices. Of alternatives the dearest counts. */
export const deviceClaimEvaluator: Evaluator = {
  handles: ({ subresource }) => subresource === '',
  tracks: (name) => name === COUNT || name.endsWith(OF_CLASS),
  usage(object) {
    // what is kept and admitted as a claim has the form of one
    const { spec } = object as unknown as ResourceClaim
    let usage: Amounts = new Map([[COUNT, ONE]])
    for (const { exactly, firstAvailable = [] } of spec?.devices?.requests ?? []) {
      const alternatives: readonly Asked[] = firstAvailable.length > 0 ? firstAvailable : exactly ? [exactly] : []
      let most: Amounts = new Map()
      for (const one of alternatives) most = larger(most, devicesOf(one))
      usage = sum(usage, most)
    }
    return usage
  },
}

function devicesOf({ deviceClassName = '', allocationMode, count = 0 }: Asked): Amounts {
  const devices = allocationMode === 'All' ? MOST_DEVICES : allocationMode === 'ExactCount' ? Number(count) : 0
  return new Map([[`${deviceClassName}${OF_CLASS}`, Quantity.of(devices)]])
}
