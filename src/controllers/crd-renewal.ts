/**
 * Ends the watches of custom resources whose definition changed or went: what they were told may look otherwise now.
 * Key: the definition's name.
 */
import { collectionOf, customStorageOf } from '../registry/collections.ts'
import { shardStorage } from '../storage/shard-client.ts'
import type { Controller } from './controller.ts'

export const crdRenewalController: Controller = {
  async reconcile(name, { env, tenant }) {
    const dot = name.indexOf('.')
    const resource = { group: name.slice(dot + 1), resource: name.slice(0, dot) }
    await shardStorage(env.SHARDS).renew(collectionOf(tenant, customStorageOf(resource)))
    return undefined
  },
}
