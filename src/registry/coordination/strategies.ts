import type { Strategy } from '../strategy.ts'
import { untyped } from '../untyped.ts'
import { leaseCandidates } from './lease-candidates.ts'
import { leases } from './leases.ts'

export const coordinationStrategies: Readonly<Record<string, Strategy>> = {
  'leasecandidates.coordination.k8s.io': untyped(leaseCandidates),
  'leases.coordination.k8s.io': untyped(leases),
}
