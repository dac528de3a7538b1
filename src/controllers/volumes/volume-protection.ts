/**
 * Removes the protection finalizer of deleted claims, volumes, VolumeAttributesClasses and PodGroups that nothing uses
 * (kube-controller-manager's pvc-protection, pv-protection, vac-protection and podgroup-protection controllers).
 * `protectedKey` makes the key.
 */
import type { GroupResource } from '../../api/group-version.ts'
import { clientsetFor, managerClients } from '../client/clientset.ts'
import type { Judged, ResourceClient } from '../client/resource-client.ts'
import { unlessGone } from '../work/unless-gone.ts'
import { untilNextLook } from '../work/waiting-time.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { definitionOf } from '../../registry/definitions.ts'
import { protectedKey } from '../../registry/protection-finalizers.ts'
import type { SomeObject } from '../../registry/work/work.ts'
import { groupResourceNamed } from '../../storage/collections.ts'

/**
 * Milliseconds between a DELETE and the first reconciliation, so that a client that reads the deleted object sees it
 * terminating.
 */
const FIRST_LOOK = 3_000
/** The shortest delay in milliseconds until the controller checks again an object that is still used. */
const RETRY = 10_000

export const volumeProtection: Controller = {
  neverGivesUp: true,
  async reconcile(key, context) {
    const [text = '', ...rest] = key.split('/')
    const name = rest.pop() ?? ''
    const resource = groupResourceNamed(text)
    const { protection } = definitionOf(resource)
    if (protection === undefined) return undefined
    const client = clientsetFor(context, protection.account).resource(resource, rest[0])
    const object = await client.get(name)
    if (object === undefined || protectedKey(resource, protection.finalizer, object) === undefined) return undefined
    const { deletionTimestamp = '' } = object.metadata
    const age = context.now().getTime() - Date.parse(deletionTimestamp)
    if (age < FIRST_LOOK) return FIRST_LOOK - Math.max(age, 0)
    if (await protection.isUsed(object, lookingIn(context)))
      return untilNextLook(deletionTimestamp, context.now(), RETRY)
    await release(client, object, protection.finalizer)
    return undefined
  },
}

async function release(client: ResourceClient, object: Judged, finalizer: string): Promise<void> {
  try {
    await client.updateWithRetries(object, ({ metadata }) => {
      const left = (metadata.finalizers ?? []).filter((one) => one !== finalizer)
      if (left.length > 0) metadata.finalizers = left
      else delete metadata.finalizers
    })
  } catch (error) {
    // gone: another writer removed the finalizer
    await unlessGone(client, object, error)
  }
}

const lookingIn =
  (context: ControllerContext): SomeObject =>
  async <O>(resource: GroupResource, namespace: string, matches: (object: O) => boolean) => {
    // the caller's definition knows the type of the resource
    for await (const object of managerClients(context).resource(resource, namespace).each())
      if (matches(object as O)) return true
    return false
  }
