import { cloneJson } from '../../json/clone-json.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { SPEC_REPLICAS, ownersAfterScale, ownersOfScale } from '../../patch/scale-ownership.ts'
import type { ReplicasPath } from '../../patch/scale-ownership.ts'
import { checkName } from './check-name.ts'
import type { View } from '../resource.ts'
import type { ResourceScope } from '../resource-scope.ts'

/**
 * A client writes the view (a Scale), and the server stores the object behind it. The field managers of the view's
 * fields become managers of the object's fields.
 * @param live must exist, because a view never creates an object
 * @param admit mutating admission, which gets views
 */
export async function throughView(
  scope: ResourceScope,
  view: View,
  live: KubeObject,
  write: (live: KubeObject) => KubeObject | Promise<KubeObject>,
  admit: (view: KubeObject, old: KubeObject) => Promise<void>,
): Promise<KubeObject> {
  const {
    resource: { kind },
  } = scope
  const replicasIn: ReplicasPath =
    view.replicasIn ?? ((version) => (parseApiVersion(version)?.group === kind.group ? SPEC_REPLICAS : undefined))
  const { managedFields } = live.metadata
  const before = view.toChange?.(live) ?? view.of(live)
  const owners = ownersOfScale(managedFields, replicasIn)
  const wanted = await write({
    ...before,
    metadata: { ...before.metadata, ...(owners === undefined ? {} : { managedFields: owners }) },
  })
  checkName(scope.place, wanted)
  await admit(wanted, before)
  const object = cloneJson(live)
  view.into(object, wanted, scope.resource.gvr)
  const after = ownersAfterScale(managedFields, wanted.metadata.managedFields, apiVersionOf(kind), replicasIn)
  if (after === undefined) delete object.metadata.managedFields
  else object.metadata.managedFields = after
  return object
}
