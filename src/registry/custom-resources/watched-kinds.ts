/**
 * Before a watch of custom resources begins, this tells ControllerManager that the kind is watched, once in an
 * isolate's life. So the watches of a kind without objects end, too, when its definition changes. Watches of kinds with
 * writes end in any case.
 */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import { BoundedMap } from '../../api/bounded-map.ts'
import type { ControlPlane } from '../../tenancy/control-snapshot.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'
import { mayHaveObjects } from '../written-types.ts'
import type { ResourceEntry } from '../resources.ts'

/** UIDs of definitions. One that was forgotten is announced again. */
const announcedOf = perTenant(
  () => new BoundedMap<string, true>({ entries: 10_000, size: 1024 * 1024, sizeOf: ({ length }) => length }),
)

export async function announceWatch(
  plane: ControlPlane,
  definition: CustomResourceDefinition,
  { storage }: ResourceEntry,
): Promise<void> {
  const { name = '', uid = '' } = definition.metadata
  const announced = announcedOf(plane.tenant)
  if (announced.has(uid) || (await mayHaveObjects(plane, storage))) return
  await plane.env.CONTROLLERS.getByName(plane.tenant.uid).announceWatch(name, uid)
  announced.set(uid, true)
}
