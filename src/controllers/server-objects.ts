/**
 * What the server itself needs, Service default/kubernetes for one, comes back when it is deleted. Admission has its
 * say, validation does not: the address of a local server is one that no Endpoints may have.
 */
import { admissionChain } from '../admission/chain.ts'
import { restoreServerObjects } from '../bootstrap/ensure-bootstrapped.ts'
import { storageOf } from '../storage/environment-storage.ts'
import { noticingControlWrites } from '../tenancy/control-snapshot.ts'
import type { Controller } from './controller.ts'

/** Key: the namespace that may be a new one, or nothing. */
export const restoredServerObjects: Controller = {
  neverGivesUp: true,
  async reconcile(namespace, context) {
    const { env, tenant } = context
    const plane = {
      env,
      tenant,
      isObject: true,
      waitUntil: (work: Promise<unknown>) => context.waitUntil(work),
      now: context.now(),
      storage: noticingControlWrites(storageOf(env)),
    }
    const refusals = await restoreServerObjects(plane, admissionChain)
    if (namespace !== '')
      for (const controller of ['service-account', 'root-ca-publisher'] as const)
        context.later(controller, namespace, 0)
    if (refusals.length > 0) throw refusals[0]
    return undefined
  },
}
