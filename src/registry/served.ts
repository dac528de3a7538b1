import type { CustomResourceDefinition } from '../api/apiextensions/v1.ts'
import type { Env } from '../env.ts'
import type { ControlPlane, ControlSnapshot } from '../tenancy/control-snapshot.ts'
import { controlSnapshot, freshControlSnapshot } from '../tenancy/control-snapshot.ts'
import { DEFINITIONS } from './custom-resources/definition.ts'
import { customGroups } from './custom-resources/entries.ts'
import { parseFeatureGates } from './feature-gates.ts'
import type { FeatureGates } from './feature-gates.ts'
import { builtInResources, withDynamic } from './resources.ts'
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

/** What a tenant's server serves, its CustomResourceDefinitions included: a second ago at most. */
export const servedResources = async (plane: ControlPlane): Promise<ServedResources> =>
  servedBy(plane.env, await controlSnapshot(plane))

/** With every definition that was written before the call. */
export const freshServedResources = async (plane: ControlPlane): Promise<ServedResources> =>
  servedBy(plane.env, await freshControlSnapshot(plane))

/** One table for each state of the definitions: the snapshot's list of them is the same value while none changes. */
const byDefinitions = new WeakMap<object, { readonly builtIn: ServedResources; readonly all: Promise<ServedResources> }>()

function servedBy(env: Env, snapshot: ControlSnapshot): Promise<ServedResources> {
  const definitions = snapshot.list<CustomResourceDefinition>(DEFINITIONS)
  const builtIn = builtInServed(env).resources
  let known = byDefinitions.get(definitions)
  if (known?.builtIn !== builtIn) {
    known = { builtIn, all: customGroups(definitions).then((groups) => withDynamic(builtIn, groups)) }
    byDefinitions.set(definitions, known)
  }
  return known.all
}
