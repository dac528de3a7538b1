import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { bindings } from './pods/bindings.ts'
import { componentStatuses } from './component-statuses.ts'
import { configMaps } from './config-maps.ts'
import { namespaces } from './namespaces/namespaces.ts'
import { podTemplates } from './pod-templates.ts'
import { pods } from './pods/pods.ts'
import { replicationControllers } from './replication-controllers.ts'
import { secrets } from './secrets.ts'
import { services } from './services/services.ts'
import { endpoints } from './services/endpoints.ts'
import { events } from './events.ts'
import { limitRanges } from './limit-ranges.ts'
import { nodes } from './nodes/nodes.ts'
import { resourceQuotas } from './resource-quotas.ts'
import { serviceAccounts } from './service-accounts.ts'
import { persistentVolumes } from './volumes/persistent-volumes.ts'
import { persistentVolumeClaims } from './volumes/persistent-volume-claims.ts'

/** The core group's resources that differ from the others in behaviour, by `resource.group`. */
export const coreDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  bindings: untyped(bindings),
  componentstatuses: untyped(componentStatuses),
  configmaps: untyped(configMaps),
  namespaces: untyped(namespaces),
  pods: untyped(pods),
  podtemplates: untyped(podTemplates),
  replicationcontrollers: untyped(replicationControllers),
  secrets: untyped(secrets),
  services: untyped(services),
  endpoints: untyped(endpoints),
  events: untyped(events),
  limitranges: untyped(limitRanges),
  nodes: untyped(nodes),
  resourcequotas: untyped(resourceQuotas),
  serviceaccounts: untyped(serviceAccounts),
  persistentvolumes: untyped(persistentVolumes),
  persistentvolumeclaims: untyped(persistentVolumeClaims),
}
