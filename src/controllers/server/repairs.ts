/** Puts right what users changed of default roles and bindings, and of the APIServices of built-in versions. */
import { atOnce } from '../../base/slices.ts'
import { putAccessRight } from '../../bootstrap/access-repair.ts'
import type { Unwritten } from '../../bootstrap/ensure-bootstrapped.ts'
import type { Repair } from '../../bootstrap/repairs.ts'
import { RBAC, repairsOf, successorsOf } from '../../bootstrap/repairs.ts'
import type { StoredApiService } from '../../registry/apiregistration/managed-api-services.ts'
import type { ControlSnapshot, NewControlPlane } from '../../tenancy/control-snapshot.ts'
import { serverClients } from '../client/clientset.ts'
import type { ControllerContext } from '../controller.ts'
import { createUnlessThere, deleteIfThere } from '../work/unless-gone.ts'

/** @param only the key of the one object to write; undefined: all @returns errors */
export async function makeSuccessors(
  context: ControllerContext,
  plane: NewControlPlane,
  snapshot: ControlSnapshot,
  only?: string,
): Promise<Unwritten[]> {
  const unwritten: Unwritten[] = []
  for (const { resource, object, key } of await successorsOf(plane, snapshot))
    if (only === undefined || only === key)
      await createUnlessThere(serverClients(context).resource({ group: RBAC, resource }), object).catch(
        (why: unknown) => void unwritten.push({ key, why }),
      )
  return unwritten
}

/** @param only as above @returns errors */
export async function repairDefaults(
  context: ControllerContext,
  plane: NewControlPlane,
  snapshot: ControlSnapshot,
  only?: string,
): Promise<Unwritten[]> {
  const unwritten: Unwritten[] = []
  for (const repair of await repairsOf(plane, snapshot))
    if (only === undefined || only === repair.key)
      await carryOut(context, repair).catch((why: unknown) => void unwritten.push({ key: repair.key, why }))
  return unwritten
}

async function carryOut(context: ControllerContext, repair: Repair): Promise<void> {
  // of those that are missing, each new object has its form of a fresh control plane (writeEdition)
  if (repair.verb === 'create') return
  const { resource, live } = repair
  const client = serverClients(context).resource(resource, live.metadata.namespace)
  switch (repair.verb) {
    case 'delete':
      await deleteIfThere(client, live)
      return
    case 'recreate':
      await deleteIfThere(client, live)
      await createUnlessThere(client, structuredClone(repair.wanted))
      return
    case 'update': {
      const { wanted } = repair
      await client.updateWithRetries(live, (current) => {
        if (resource.group === RBAC) atOnce(putAccessRight(current, wanted))
        else (current as StoredApiService).spec = structuredClone((wanted as StoredApiService).spec)
      })
    }
  }
}
