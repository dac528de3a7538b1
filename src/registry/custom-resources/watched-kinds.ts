/**
 * Before the first watch of a kind in an isolate, this file announces the kind to ControllerManager. Then a change of
 * the definition also ends the watches of a kind without objects. Watches of a kind with writes end in any case.
 */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import { BoundedMap } from '../../base/bounded-map.ts'
import type { ControlPlane } from '../../tenancy/control-snapshot.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'
import { mayHaveObjects } from '../served/written-types.ts'
import type { ResourceEntry } from '../served/resources.ts'

/** UIDs of announced definitions. The isolate announces an evicted one again. */
const announcedOf = perTenant(
  'forgotten',
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
