/**
 * Ends the watches of custom resources whose definition changed or went: what they were told may look otherwise now.
 * Key: the definition's name.
 */
import { collectionOf, customStorageOf } from '../storage/collections.ts'
import { storageOf } from '../storage/environment-storage.ts'
import type { Controller } from './controller.ts'

export const crdRenewalController: Controller = {
  async reconcile(name, { env, tenant }) {
    const dot = name.indexOf('.')
    const resource = { group: name.slice(dot + 1), resource: name.slice(0, dot) }
    await storageOf(env).renew(collectionOf(tenant, customStorageOf(resource)))
    return undefined
  },
}
