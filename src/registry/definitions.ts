/** The definitions of the built-in resources, by `resource.group`. Each has a file in the folder of its group. */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import { ownValue } from '../base/own.ts'
import { lazy } from '../base/lazy.ts'
import { groupResourceNamed } from '../storage/collections.ts'
import type { BuiltInDefinition } from './built-in-definition.ts'
import { apiextensionsDefinitions } from './apiextensions/definitions.ts'
import { appsDefinitions } from './apps/definitions.ts'
import { authenticationDefinitions } from './authentication/definitions.ts'
import { authorizationDefinitions } from './authorization/definitions.ts'
import { batchDefinitions } from './batch/definitions.ts'
import { policyDefinitions } from './policy/definitions.ts'
import { admissionregistrationDefinitions } from './admissionregistration/definitions.ts'
import { autoscalingDefinitions } from './autoscaling/definitions.ts'
import { apiserverinternalDefinitions } from './apiserverinternal/definitions.ts'
import { apiregistrationDefinitions } from './apiregistration/definitions.ts'
import { coordinationDefinitions } from './coordination/definitions.ts'
import { eventsDefinitions } from './events/definitions.ts'
import { discoveryDefinitions } from './discovery/definitions.ts'
import { flowcontrolDefinitions } from './flowcontrol/definitions.ts'
import { coreDefinitions } from './core/definitions.ts'
import { networkingDefinitions } from './networking/definitions.ts'
import { certificateDefinitions } from './certificates/definitions.ts'
import { nodeDefinitions } from './node/definitions.ts'
import { schedulingDefinitions } from './scheduling/definitions.ts'
import { storageDefinitions } from './storage/definitions.ts'
import { storagemigrationDefinitions } from './storagemigration/definitions.ts'
import { rbacDefinitions } from './rbac/definitions.ts'
import { resourceDefinitions } from './resource/definitions.ts'

const ofGroups: Readonly<Record<string, BuiltInDefinition>> = {
  ...apiextensionsDefinitions,
  ...admissionregistrationDefinitions,
  ...apiregistrationDefinitions,
  ...apiserverinternalDefinitions,
  ...autoscalingDefinitions,
  ...appsDefinitions,
  ...authenticationDefinitions,
  ...authorizationDefinitions,
  ...batchDefinitions,
  ...policyDefinitions,
  ...coreDefinitions,
  ...discoveryDefinitions,
  ...coordinationDefinitions,
  ...eventsDefinitions,
  ...flowcontrolDefinitions,
  ...networkingDefinitions,
  ...certificateDefinitions,
  ...nodeDefinitions,
  ...schedulingDefinitions,
  ...storageDefinitions,
  ...storagemigrationDefinitions,
  ...rbacDefinitions,
  ...resourceDefinitions,
}

const DEFAULTS: BuiltInDefinition = { allowUnconditionalUpdate: true, defaultPropagation: 'Background' }

/** Bound: the number of definitions. */
const made = new Map<string, BuiltInDefinition>()

/** @param resource the name under which storage keeps its objects */
export function definitionOf(resource: GroupResource): BuiltInDefinition {
  const name = groupResourceText(resource)
  let definition = made.get(name)
  if (definition === undefined) {
    const own = ownValue(ofGroups, name)
    if (own === undefined) return DEFAULTS
    made.set(name, (definition = { ...DEFAULTS, ...own }))
  }
  return definition
}

/** The definitions that are not empty, with their resources. */
export const definitions = lazy(
  (): readonly { readonly resource: GroupResource; readonly definition: BuiltInDefinition }[] =>
    Object.keys(ofGroups).map((name) => {
      const resource = groupResourceNamed(name)
      return { resource, definition: definitionOf(resource) }
    }),
)
