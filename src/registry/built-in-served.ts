import { parseFeatureGates } from '../api/feature-gates.ts'
import type { FeatureGates } from '../api/feature-gates.ts'
import { builtInResources } from './resources.ts'
import type { ServedResources } from './resources.ts'

/** What a server serves without any CustomResourceDefinition, and its feature gates. */
export interface BuiltInServed {
  readonly resources: ServedResources
  readonly gates: FeatureGates
}

/** By the text of both settings. Bound: an isolate has them once, tests have a handful. */
const bySettings = new Map<string, BuiltInServed>()

/** @throws Error when a setting cannot be read */
export function builtInServedBy(runtimeConfig: string, featureGates: string): BuiltInServed {
  const key = `${runtimeConfig}\n${featureGates}`
  let served = bySettings.get(key)
  if (served === undefined) {
    const gates = parseFeatureGates(featureGates)
    served = { resources: builtInResources({ runtimeConfig, featureGates }), gates }
    bySettings.set(key, served)
  }
  return served
}
