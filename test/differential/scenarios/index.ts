/** Every scenario, by the file of its recordings. */
import type { Scenario } from '../scenario.ts'
import { budgets } from './budgets.ts'
import { daemonSets } from './daemon-sets.ts'
import { deployments } from './deployments.ts'
import { devices } from './devices.ts'
import { jobs } from './jobs.ts'
import { replicaSets } from './replica-sets.ts'
import { scheduling } from './scheduling.ts'
import { services } from './services.ts'
import { statefulSets } from './stateful-sets.ts'

export const areas: Readonly<Record<string, readonly Scenario[]>> = {
  deployments,
  'replica-sets': replicaSets,
  'stateful-sets': statefulSets,
  'daemon-sets': daemonSets,
  jobs,
  services,
  scheduling,
  budgets,
  devices,
}
