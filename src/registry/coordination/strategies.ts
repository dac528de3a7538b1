import type { Strategy } from '../strategy.ts'
import { untyped } from '../untyped.ts'
import { leases } from './leases.ts'

export const coordinationStrategies: Readonly<Record<string, Strategy>> = {
  'leases.coordination.k8s.io': untyped(leases),
}
