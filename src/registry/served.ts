import type { Env } from '../env.ts'
import { parseFeatureGates } from './feature-gates.ts'
import type { FeatureGates } from './feature-gates.ts'
import { builtInResources } from './resources.ts'
import type { ServedResources } from './resources.ts'

interface Served {
  readonly resources: ServedResources
  readonly gates: FeatureGates
}

/** Settings never change in the life of an isolate: one table for each combination. */
const bySettings = new Map<string, Served>()

/** What this server serves without any CustomResourceDefinition, and its feature gates. */
export function builtInServed({ KEDGE_RUNTIME_CONFIG, KEDGE_FEATURE_GATES }: Env): Served {
  const key = `${KEDGE_RUNTIME_CONFIG ?? ''}\n${KEDGE_FEATURE_GATES ?? ''}`
  let served = bySettings.get(key)
  if (served === undefined) {
    const gates = parseFeatureGates(KEDGE_FEATURE_GATES)
    served = {
      resources: builtInResources({ runtimeConfig: KEDGE_RUNTIME_CONFIG, featureGates: KEDGE_FEATURE_GATES }),
      gates,
    }
    bySettings.set(key, served)
  }
  return served
}

/** What a tenant's server serves. */
export async function servedResources({ env }: { readonly env: Env }): Promise<ServedResources> {
  return builtInServed(env).resources
}
