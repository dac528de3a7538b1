import type { FeatureGates } from '../api/feature-gates.ts'
import { lazy } from '../api/lazy.ts'
import { settingsOf } from '../settings.ts'
import { builtInResources } from './resources.ts'
import type { ServedResources } from './resources.ts'

/** What a server serves without any CustomResourceDefinition, and its feature gates. */
export interface BuiltInServed {
  readonly resources: ServedResources
  readonly gates: FeatureGates
}

/** By the text of both settings. Bound: an isolate has them once, tests have a handful. */
const bySettings = new Map<string, BuiltInServed>()

/** What is served where the settings say nothing. */
export const builtInByDefault = lazy((): BuiltInServed => builtInServed({}))

/** @throws BadSettings */
export function builtInServed(env: object): BuiltInServed {
  const { runtimeConfig, featureGates, gates } = settingsOf(env)
  const key = `${runtimeConfig}\n${featureGates}`
  let served = bySettings.get(key)
  if (served === undefined) {
    served = { resources: builtInResources({ runtimeConfig, featureGates }), gates }
    bySettings.set(key, served)
  }
  return served
}
