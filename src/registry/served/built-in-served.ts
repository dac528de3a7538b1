import type { FeatureGates } from '../../api/feature-gates.ts'
import { lazy } from '../../base/lazy.ts'
import { settingsOf } from '../../settings.ts'
import { builtInResources } from './resources.ts'
import type { ServedResources } from './resources.ts'

/** The resources that a server without CustomResourceDefinitions serves, and its feature gates. */
export interface BuiltInServed {
  readonly resources: ServedResources
  readonly gates: FeatureGates
}

/** By the text of both settings. Bound: an isolate has one pair of settings, tests have a handful. */
const bySettings = new Map<string, BuiltInServed>()

/** The resources of a server with default settings. */
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
