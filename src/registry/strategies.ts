/**
 * The strategies of the built-in resources, by `resource.group`: a file each, in the folder of the group. A resource
 * without one has all defaults.
 */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import { ownValue } from '../api/own.ts'
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

const DEFAULTS: Strategy = { allowUnconditionalUpdate: true, defaultPropagation: 'Background' }

export function strategyOf(resource: GroupResource): Strategy {
  const name = groupResourceText(resource)
  let strategy = made.get(name)
  if (strategy === undefined) made.set(name, (strategy = { ...DEFAULTS, ...ownValue(ofGroups, name) }))
  return strategy
}
