import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { controllerRevisions } from './controller-revisions.ts'
import { daemonSets } from './daemon-sets.ts'
import { deployments } from './deployments.ts'
import { replicaSets } from './replica-sets.ts'
import { statefulSets } from './stateful-sets.ts'

export const appsDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'controllerrevisions.apps': untyped(controllerRevisions),
  'daemonsets.apps': untyped(daemonSets),
  'deployments.apps': untyped(deployments),
  'replicasets.apps': untyped(replicaSets),
  'statefulsets.apps': untyped(statefulSets),
}
