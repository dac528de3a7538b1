import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import type { APIService } from '../../api/apiregistration/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Env } from '../../env.ts'
import type { ControlPlane, ControlSnapshot } from '../../tenancy/control-snapshot.ts'
import { controlSnapshot, freshControlSnapshot } from '../../tenancy/control-snapshot.ts'
import { switchesAt } from '../../tenancy/workload-switches.ts'
import { DEFINITIONS } from '../custom-resources/definition.ts'
import { customGroup } from '../custom-resources/entries.ts'
import { builtInServed } from './built-in-served.ts'
import { withDynamic, withGroups } from './served-groups.ts'
import { METRICS, usageGroup } from '../metrics/usage-resources.ts'
import { API_SERVICES, remoteGroups } from './remote-groups.ts'
import type { ServedGroup, ServedResources } from './resources.ts'

/**
 * The resources that the server of a tenant serves, with those of its CustomResourceDefinitions. The state is at most a
 * second old.
 */
export const servedResources = async (plane: ControlPlane): Promise<ServedResources> =>
  servedAt(plane.env, await controlSnapshot(plane))

/** Includes every definition that was written before the call. */
export const freshServedResources = async (plane: ControlPlane): Promise<ServedResources> =>
  servedAt(plane.env, await freshControlSnapshot(plane))

interface Known {
  readonly builtIn: ServedResources
  /**
   * The remote groups as text. Every definition has an APIService, too. A change of those does not change this text.
   */
  readonly remote: string
  readonly isSimulated: boolean
  readonly all: ServedResources
}

/**
 * One table for each state of the definitions. While no definition changes, the snapshot returns the same index, which
 * is the key.
 */
const byDefinitions = new WeakMap<object, Known>()

/** The resources that this state of the control plane serves. The first use of a group reads its definitions. */
export function servedAt(env: Env, snapshot: ControlSnapshot): ServedResources {
  const definitions = snapshot.groups<KubeObject & CustomResourceDefinition>(DEFINITIONS)
  const remote = remoteGroupsOf(snapshot.list<KubeObject & APIService>(API_SERVICES))
  const builtIn = builtInServed(env).resources
  const isSimulated = switchesAt(env, snapshot).workloads === 'simulated'
  let known = byDefinitions.get(definitions)
  if (known?.builtIn !== builtIn || known.remote !== remote.text || known.isSimulated !== isSimulated) {
    const isElsewhere = hasMetrics(remote.groups) || definitions.has(METRICS.group)
    const simulated = isSimulated && !isElsewhere ? [usageGroup()] : []
    const names = [...definitions.keys(), ...[...simulated, ...remote.groups].map(({ group }) => group)]
    const added = (name: string): ServedGroup[] => {
      const custom = customGroup(name, definitions.get(name)?.list ?? [])
      const groups = [...simulated, ...(custom === undefined ? [] : [custom]), ...remote.groups]
      return groups.filter(({ group }) => group === name)
    }
    const all =
      names.length === 0 ? builtIn : withGroups(builtIn, names, added, (name) => definitions.get(name)?.read())
    byDefinitions.set(definitions, (known = { builtIn, remote: remote.text, isSimulated, all }))
  }
  return known.all
}

/** Whether another server serves metrics. */
const hasMetrics = (groups: readonly ServedGroup[]): boolean =>
  groups.some(
    ({ group, versions }) => group === METRICS.group && versions.some(({ version }) => version === METRICS.version),
  )

/** The resources of these definitions alone, without those of the control plane. */
export function servedWith(env: Env, definitions: readonly CustomResourceDefinition[]): ServedResources {
  const byGroup = Map.groupBy(definitions, ({ spec }) => spec?.group ?? '')
  const groups = [...byGroup].map(([group, ofGroup]) => customGroup(group, ofGroup))
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
