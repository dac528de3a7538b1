/**
 * What the server itself needs, Service default/kubernetes for one, comes back when it is deleted. Written as for a
 * fresh control plane, without validation: the address of a local server is one that no Endpoints may have.
 */
import { restoreServerObjects } from '../bootstrap/ensure-bootstrapped.ts'
import { storageOf } from '../storage/environment-storage.ts'
import { noticingControlWrites } from '../tenancy/control-snapshot.ts'
import type { Controller } from './controller.ts'

/** Key: the namespace that may be a new one, or nothing. */
export const restoredServerObjects: Controller = {
  async reconcile(namespace, context) {
    const { env, tenant } = context
    await restoreServerObjects({
      env,
      tenant,
      isObject: true,
      waitUntil: (work) => context.waitUntil(work),
      now: context.now(),
      storage: noticingControlWrites(storageOf(env)),
    })
    if (namespace !== '')
      for (const controller of ['service-account', 'root-ca-publisher'] as const)
        context.later(controller, namespace, 0)
    return undefined
  },
}
