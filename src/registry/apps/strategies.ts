import { untyped } from '../core/strategies.ts'
import type { Strategy } from '../strategy.ts'
import { controllerRevisions } from './controller-revisions.ts'
import { daemonSets } from './daemon-sets.ts'
import { deployments } from './deployments.ts'
import { replicaSets } from './replica-sets.ts'
import { statefulSets } from './stateful-sets.ts'

export const appsStrategies: Readonly<Record<string, Strategy>> = {
  'controllerrevisions.apps': untyped(controllerRevisions),
  'daemonsets.apps': untyped(daemonSets),
  'deployments.apps': untyped(deployments),
  'replicasets.apps': untyped(replicaSets),
  'statefulsets.apps': untyped(statefulSets),
}
