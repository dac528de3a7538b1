/**
 * The strategies of the built-in resources, by `resource.group`: facts that fit a table here, behaviour in the files
 * of the groups. A resource that is in neither has all defaults.
 */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import { ownValue } from '../api/own.ts'
import { labelName, pathSegmentName } from '../validation/names.ts'
import type { Strategy } from './strategy.ts'
import { apiextensionsStrategies } from './apiextensions/strategies.ts'
import { appsStrategies } from './apps/strategies.ts'
import { batchStrategies } from './batch/strategies.ts'
import { policyStrategies } from './policy/strategies.ts'
import { admissionregistrationStrategies } from './admissionregistration/strategies.ts'
import { autoscalingStrategies } from './autoscaling/strategies.ts'
import { apiserverinternalStrategies } from './apiserverinternal/strategies.ts'
import { apiregistrationStrategies } from './apiregistration/strategies.ts'
import { coordinationStrategies } from './coordination/strategies.ts'
import { discoveryStrategies } from './discovery/strategies.ts'
import { flowcontrolStrategies } from './flowcontrol/strategies.ts'
import { coreStrategies } from './core/strategies.ts'
import { networkingStrategies } from './networking/strategies.ts'
import { certificateStrategies } from './certificates/strategies.ts'
import { nodeStrategies } from './node/strategies.ts'
import { schedulingStrategies } from './scheduling/strategies.ts'
import { storageStrategies } from './storage/strategies.ts'
import { storagemigrationStrategies } from './storagemigration/strategies.ts'
import { rbacStrategies } from './rbac/strategies.ts'
import { resourceStrategies } from './resource/strategies.ts'

/** `metadata.generation` starts at 1 and counts changes. */
const withGeneration = words(`
  cronjobs.batch customresourcedefinitions.apiextensions.k8s.io daemonsets.apps deployments.apps
  deviceclasses.resource.k8s.io endpointslices.discovery.k8s.io flowschemas.flowcontrol.apiserver.k8s.io
  ingressclasses.networking.k8s.io ingresses.networking.k8s.io jobs.batch
  mutatingadmissionpolicies.admissionregistration.k8s.io mutatingadmissionpolicybindings.admissionregistration.k8s.io
  mutatingwebhookconfigurations.admissionregistration.k8s.io networkpolicies.networking.k8s.io pods
  poddisruptionbudgets.policy podtemplates priorityclasses.scheduling.k8s.io
  prioritylevelconfigurations.flowcontrol.apiserver.k8s.io replicasets.apps replicationcontrollers
  resourceslices.resource.k8s.io statefulsets.apps validatingadmissionpolicies.admissionregistration.k8s.io
  validatingadmissionpolicybindings.admissionregistration.k8s.io
  validatingwebhookconfigurations.admissionregistration.k8s.io`)

/** PUT of an absent name creates it. */
const createdByUpdate = words(`
  endpoints events events.events.k8s.io limitranges services leases.coordination.k8s.io runtimeclasses.node.k8s.io
  roles.rbac.authorization.k8s.io clusterroles.rbac.authorization.k8s.io rolebindings.rbac.authorization.k8s.io
  clusterrolebindings.rbac.authorization.k8s.io`)

/** PUT must name the version it replaces. */
const onlyConditionalUpdate = words(`
  leases.coordination.k8s.io poddisruptionbudgets.policy csistoragecapacities.storage.k8s.io csidrivers.storage.k8s.io
  csinodes.storage.k8s.io volumeattachments.storage.k8s.io runtimeclasses.node.k8s.io
  validatingadmissionpolicies.admissionregistration.k8s.io validatingadmissionpolicybindings.admissionregistration.k8s.io
  mutatingadmissionpolicies.admissionregistration.k8s.io mutatingadmissionpolicybindings.admissionregistration.k8s.io
  validatingwebhookconfigurations.admissionregistration.k8s.io
  mutatingwebhookconfigurations.admissionregistration.k8s.io customresourcedefinitions.apiextensions.k8s.io
  apiservices.apiregistration.k8s.io`)

/** DELETE answers the object that went, not a Status. */
const answeredWhenDeleted = words(`
  pods podtemplates services serviceaccounts resourcequotas persistentvolumes persistentvolumeclaims
  storageclasses.storage.k8s.io volumeattachments.storage.k8s.io volumeattributesclasses.storage.k8s.io
  csidrivers.storage.k8s.io csinodes.storage.k8s.io deviceclasses.resource.k8s.io resourceclaims.resource.k8s.io
  resourceclaimtemplates.resource.k8s.io resourceslices.resource.k8s.io`)

const orphanedByDefault = words('replicationcontrollers jobs.batch')
const namedByPathSegment = words(`
  roles.rbac.authorization.k8s.io clusterroles.rbac.authorization.k8s.io rolebindings.rbac.authorization.k8s.io
  clusterrolebindings.rbac.authorization.k8s.io apiservices.apiregistration.k8s.io`)
const namedByLabel = words('namespaces services')
const keepsStatus = words('nodes')

const ofGroups: Readonly<Record<string, Strategy>> = {
  ...apiextensionsStrategies,
  ...admissionregistrationStrategies,
  ...apiregistrationStrategies,
  ...apiserverinternalStrategies,
  ...autoscalingStrategies,
  ...appsStrategies,
  ...batchStrategies,
  ...policyStrategies,
  ...coreStrategies,
  ...discoveryStrategies,
  ...coordinationStrategies,
  ...flowcontrolStrategies,
  ...networkingStrategies,
  ...certificateStrategies,
  ...nodeStrategies,
  ...schedulingStrategies,
  ...storageStrategies,
  ...storagemigrationStrategies,
  ...rbacStrategies,
  ...resourceStrategies,
}

/** Bound: the built-in resources. */
const made = new Map<string, Strategy>()

export function strategyOf(resource: GroupResource): Strategy {
  const name = groupResourceText(resource)
  let strategy = made.get(name)
  if (strategy === undefined) made.set(name, (strategy = { ...factsOf(name), ...ownValue(ofGroups, name) }))
  return strategy
}

function factsOf(name: string): Strategy {
  return {
    ...(namedByPathSegment.has(name)
      ? { nameRule: pathSegmentName }
      : namedByLabel.has(name)
        ? { nameRule: labelName }
        : {}),
    hasGeneration: withGeneration.has(name),
    generationStays: name === 'priorityclasses.scheduling.k8s.io',
    keepsStatusOnCreate: keepsStatus.has(name),
    allowCreateOnUpdate: createdByUpdate.has(name),
    allowUnconditionalUpdate: !onlyConditionalUpdate.has(name),
    deleteAnswersObject: answeredWhenDeleted.has(name),
    defaultPropagation: orphanedByDefault.has(name) ? 'Orphan' : 'Background',
    ignoresCollector: name === 'events',
  }
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}
