/**
 * What users changed of the objects that kube-apiserver puts right at its start: default roles and bindings, and
 * APIServices of built-in versions. All of them are in the control shard. It also makes priority classes of the system,
 * but nobody can delete those.
 */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { inTurns } from '../base/slices.ts'
import type { CustomResourceDefinition } from '../api/apiextensions/v1.ts'
import type { StoredApiService } from '../registry/apiregistration/managed-api-services.ts'
import {
  definitionApiService,
  hasSpecOf,
  isAlwaysManaged,
  isManaged,
} from '../registry/apiregistration/managed-api-services.ts'
import { DEFINITIONS, servedVersionsOf } from '../registry/custom-resources/definition.ts'
import { timeText } from '../schema/time.ts'
import { settingsOf } from '../settings.ts'
import type { ControlSnapshot, NewControlPlane } from '../tenancy/control-snapshot.ts'
import type { AccessObject, Successor } from './access-repair.ts'
import { bindsOtherRole, missingSuccessors, putAccessRight } from './access-repair.ts'
import type { BootstrapObject } from './bootstrap-object.ts'
import { resourceOf } from './bootstrap-object.ts'
import { policyObjects } from './policy-objects.ts'
import { apiServices } from './server-objects.ts'

export type Repair = {
  readonly resource: GroupResource
  /** `RESOURCE.GROUP/NAMESPACE/NAME` */
  readonly key: string
} & (
  | { readonly verb: 'create' }
  | { readonly verb: 'update' | 'recreate'; readonly live: KubeObject; readonly wanted: KubeObject }
  | { readonly verb: 'delete'; readonly live: KubeObject }
)

export const RBAC = 'rbac.authorization.k8s.io'
export const API_SERVICES: GroupResource = { group: 'apiregistration.k8s.io', resource: 'apiservices' }

type Plane = Pick<NewControlPlane, 'env' | 'now'>

async function wantedObjects({ env, now }: Plane): Promise<BootstrapObject[]> {
  const policy = await policyObjects(timeText(now), settingsOf(env).gates)
  // flow schemas and priority levels have a controller of their own
  return [...policy.filter((one) => resourceOf(one).group === RBAC), ...apiServices({ env, now })]
}

const pathOf = ({ metadata: { namespace, name = '' } }: KubeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`

const keyOf = (resource: GroupResource, object: KubeObject): string =>
  `${groupResourceText(resource)}/${pathOf(object)}`

/** In no order. */
export async function repairsOf(plane: Plane, snapshot: ControlSnapshot): Promise<Repair[]> {
  const all = await wantedObjects(plane)
  const repairs: Repair[] = []
  for (const one of all) {
    const [resource, wanted] = [resourceOf(one), one.object]
    const base = { resource, key: keyOf(resource, wanted) }
    const live = snapshot.get<KubeObject>(resource, pathOf(wanted))
    if (live === undefined) repairs.push({ ...base, verb: 'create' })
    else {
      const verb = resource.group === RBAC ? await accessRepair(live, wanted) : apiServiceRepair(live, wanted)
      if (verb !== undefined) repairs.push({ ...base, verb, live, wanted })
    }
  }
  const own = new Set(all.map(({ object }) => keyOf(API_SERVICES, object)))
  for (const live of snapshot.list<StoredApiService>(API_SERVICES)) {
    const key = keyOf(API_SERVICES, live)
    const repair = own.has(key) ? undefined : foreignRepair(live, snapshot)
    if (repair !== undefined) repairs.push({ resource: API_SERVICES, key, live, ...repair })
  }
  return repairs
}

const apiServiceRepair = (live: StoredApiService, wanted: StoredApiService): 'update' | undefined =>
  isManaged(live) && !hasSpecOf(live, wanted) ? 'update' : undefined

/** Of an APIService that is kept right at starts, of a version that is not built in, or is switched off. */
function foreignRepair(
  live: StoredApiService,
  snapshot: ControlSnapshot,
): { verb: 'delete' } | { verb: 'update'; wanted: KubeObject } | undefined {
  // those that are always kept right have a controller of their own
  if (!isManaged(live) || isAlwaysManaged(live)) return undefined
  const { group = '', version = '' } = live.spec ?? {}
  const definitions = snapshot.inGroup<KubeObject & CustomResourceDefinition>(DEFINITIONS, group)
  if (!servedVersionsOf(definitions).has(version)) return { verb: 'delete' }
  const wanted = definitionApiService(group, version)
  return hasSpecOf(live, wanted) ? undefined : { verb: 'update', wanted }
}

async function accessRepair(live: AccessObject, wanted: AccessObject): Promise<'update' | 'recreate' | undefined> {
  if (wanted.roleRef !== undefined && bindsOtherRole(live, wanted)) return 'recreate'
  return (await inTurns(putAccessRight({ ...live }, wanted))) ? 'update' : undefined
}

/** Roles and bindings to make before any other is created. */
export async function successorsOf(plane: Plane, snapshot: ControlSnapshot): Promise<(Successor & { key: string })[]> {
  const all = await wantedObjects(plane)
  const successors = missingSuccessors(
    (resource, name) => snapshot.get<AccessObject>({ group: RBAC, resource }, name),
    (resource, name) => all.find((one) => one.resource === resource && one.object.metadata.name === name)?.object,
  )
  return successors.map((one) => ({ ...one, key: keyOf({ group: RBAC, resource: one.resource }, one.object) }))
}
