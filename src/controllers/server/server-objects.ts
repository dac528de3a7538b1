/**
 * The server's own objects. Restores deleted objects that the server needs, for example Service default/kubernetes, and
 * puts right its address where users changed it.
 * Adds those of a new release or other settings to an existing control plane, and puts right what users changed of
 * default roles and APIServices, as kube-apiserver does at its start. Admission applies. Validation does not: a local
 * server may have an address that validation refuses in Endpoints.
 */
import { admissionChain } from '../../admission/chain.ts'
import { mendServerEndpoints, restoreServerObjects, writeEdition } from '../../bootstrap/ensure-bootstrapped.ts'
import { storageFor } from '../../storage/environment-storage.ts'
import { freshControlSnapshot, noticingControlWrites } from '../../tenancy/control-snapshot.ts'
import type { NewControlPlane } from '../../tenancy/control-snapshot.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { makeSuccessors, repairDefaults } from './repairs.ts'

/** Key: a namespace that may be new, or empty. */
export const restoredServerObjects: Controller = {
  neverGivesUp: true,
  async reconcile(namespace, context) {
    const plane = planeOf(context)
    const unwritten = [
      ...(await restoreServerObjects(plane, admissionChain)),
      ...(await mendServerEndpoints(plane, admissionChain)),
    ]
    if (namespace !== '')
      for (const controller of ['service-account', 'root-ca-publisher'] as const)
        context.later(controller, namespace, 0)
    if (unwritten.length > 0) throw unwritten[0]!.why
    return undefined
  },
}

/** Key: an object that could not be written before; or empty, for all objects. */
export const serverEdition: Controller = {
  neverGivesUp: true,
  async reconcile(key, context) {
    const plane = planeOf(context)
    const only = key === '' ? undefined : key
    const unmade = await makeSuccessors(context, plane, await freshControlSnapshot(plane), only)
    const isUnmade = new Set(unmade.map((one) => one.key))
    // a default object must not take the place of a successor
    const snapshot = await freshControlSnapshot(plane)
    const unwritten = [
      ...unmade,
      ...(await writeEdition(plane, snapshot, admissionChain, (one) => !isUnmade.has(one) && (only ?? one) === one)),
      ...(await repairDefaults(context, plane, snapshot, only)),
    ]
    if (key !== '' && unwritten.length > 0) throw unwritten[0]!.why
    // a retry writes only one object: it must not restore other objects that a user deleted meanwhile
    for (const one of unwritten) context.later('server-edition', one.key, 0)
    return undefined
  },
}

const planeOf = (context: ControllerContext): NewControlPlane => ({
  env: context.env,
  tenant: context.tenant,
  isObject: true,
  waitUntil: (work) => context.waitUntil(work),
  now: context.now(),
  storage: noticingControlWrites(storageFor(context)),
})
