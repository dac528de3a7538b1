import type { CustomResourceDefinition } from '../api/apiextensions/v1.ts'
import type { APIService } from '../api/apiregistration/v1.ts'
import type { KubeObject } from '../api/object.ts'
import type { Env } from '../env.ts'
import { settingsOf } from '../settings.ts'
import type { ControlPlane, ControlSnapshot } from '../tenancy/control-snapshot.ts'
import { controlSnapshot, freshControlSnapshot } from '../tenancy/control-snapshot.ts'
import { DEFINITIONS } from './custom-resources/definition.ts'
import { customGroup } from './custom-resources/entries.ts'
import type { BuiltInServed } from './built-in-served.ts'
import { withDynamic } from './resources.ts'
import { API_SERVICES, remoteGroups } from './remote-groups.ts'
import type { ServedGroup, ServedResources } from './resources.ts'

/** What this server serves without any CustomResourceDefinition, and its feature gates. */
export const builtInServed = (env: Env): BuiltInServed => settingsOf(env).builtIn

/** What a tenant's server serves, its CustomResourceDefinitions included: a second ago at most. */
export const servedResources = async (plane: ControlPlane): Promise<ServedResources> =>
  servedAt(plane.env, await controlSnapshot(plane))

/** With every definition that was written before the call. */
export const freshServedResources = async (plane: ControlPlane): Promise<ServedResources> =>
  servedAt(plane.env, await freshControlSnapshot(plane))

interface Known {
  readonly builtIn: ServedResources
  /** What makes the remote groups, as text: other APIServices come and go with every definition. */
  readonly remote: string
  all: ServedResources | Promise<ServedResources>
}

/** One table for each state of the definitions: the snapshot's index of them is the same value while none changes. */
const byDefinitions = new WeakMap<object, Known>()

/** What is served where the control plane is in this state; at hand but for the first who asks. */
export function servedAt(env: Env, snapshot: ControlSnapshot): ServedResources | Promise<ServedResources> {
  const definitions = snapshot.groups<KubeObject & CustomResourceDefinition>(DEFINITIONS)
  const remote = remoteGroupsOf(snapshot.list<KubeObject & APIService>(API_SERVICES))
  const builtIn = builtInServed(env).resources
  let known = byDefinitions.get(definitions)
  if (known?.builtIn !== builtIn || known.remote !== remote.text) {
    const groups = [...definitions].map(([group, { list }]) => customGroup(group, list))
    const all = Promise.all(groups).then((custom) =>
      withDynamic(builtIn, [...custom.filter((group) => group !== undefined), ...remote.groups]),
    )
    const made: Known = { builtIn, remote: remote.text, all }
    byDefinitions.set(definitions, (known = made))
    void all.then(
      (resources) => (made.all = resources),
      () => {}, // whoever asks is told
    )
  }
  return known.all
}

/** What is served of these definitions, whatever the control plane holds. */
export async function servedWith(env: Env, definitions: readonly CustomResourceDefinition[]): Promise<ServedResources> {
  const byGroup = Map.groupBy(definitions, ({ spec }) => spec?.group ?? '')
  const groups = await Promise.all([...byGroup].map(([group, ofGroup]) => customGroup(group, ofGroup)))
  return withDynamic(
    builtInServed(env).resources,
    groups.filter((group) => group !== undefined),
  )
}

const remoteByServices = new WeakMap<object, { readonly text: string; readonly groups: readonly ServedGroup[] }>()

function remoteGroupsOf(services: readonly APIService[]) {
  let known = remoteByServices.get(services)
  if (known === undefined) {
    const groups = remoteGroups(services)
    known = { text: JSON.stringify(groups), groups }
    remoteByServices.set(services, known)
  }
  return known
}
