import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { deviceClasses } from './device-classes.ts'
import { deviceTaintRules } from './device-taint-rules.ts'
import { resourceClaimTemplates } from './resource-claim-templates.ts'
import { resourceClaims } from './resource-claims.ts'
import { resourcePoolStatusRequests } from './resource-pool-status-requests.ts'
import { resourceSlices } from './resource-slices.ts'

export const resourceDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'deviceclasses.resource.k8s.io': untyped(deviceClasses),
  'devicetaintrules.resource.k8s.io': untyped(deviceTaintRules),
  'resourceclaims.resource.k8s.io': untyped(resourceClaims),
  'resourceclaimtemplates.resource.k8s.io': untyped(resourceClaimTemplates),
  'resourcepoolstatusrequests.resource.k8s.io': untyped(resourcePoolStatusRequests),
  'resourceslices.resource.k8s.io': untyped(resourceSlices),
}
