import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { leaseCandidates } from './lease-candidates.ts'
import { leases } from './leases.ts'

export const coordinationDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'leasecandidates.coordination.k8s.io': untyped(leaseCandidates),
  'leases.coordination.k8s.io': untyped(leases),
}
