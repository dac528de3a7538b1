import type { Strategy } from '../strategy.ts'
import { untyped } from '../untyped.ts'
import { endpointSlices } from './endpoint-slices.ts'

export const discoveryStrategies: Readonly<Record<string, Strategy>> = {
  'endpointslices.discovery.k8s.io': untyped(endpointSlices),
}
