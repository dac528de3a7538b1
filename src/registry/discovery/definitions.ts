import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { endpointSlices } from './endpoint-slices.ts'

export const discoveryDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'endpointslices.discovery.k8s.io': untyped(endpointSlices),
}
