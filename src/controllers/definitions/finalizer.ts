/**
 * Deletes the objects of a CustomResourceDefinition that is being deleted, then removes its finalizer (kube-apiserver's
 * finalizing controller). Key: the definition's name.
 */
import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from '../../api/apiextensions/v1.ts'
import { StatusError } from '../../api/status.ts'
import { CLEANUP, setCondition } from '../../registry/apiextensions/custom-resource-definitions.ts'
import {
  conditionOf,
  DEFINITIONS,
  isEstablished,
  storageVersion,
  versionNamed,
} from '../../registry/custom-resources/definition.ts'
import { entryOf } from '../../registry/custom-resources/entries.ts'
import { wasWritten } from '../../registry/served/written-types.ts'
import { settingsOf } from '../../settings.ts'
import { LONGEST_AGE } from '../../tenancy/control-snapshot.ts'
import { UNCHECKED } from '../../tenancy/same-epoch.ts'
import { registryClients, serverClients } from '../client/clientset.ts'
import type { ResourceClient } from '../client/resource-client.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { untilNextLook } from '../work/waiting-time.ts'

/** A deletionTimestamp has no part of a second. */
const SECOND_MS = 1_000
/** For the call that stores an object, and for clocks that differ. */
const ON_ITS_WAY_MS = 1_000

export const crdFinalizerController: Controller = {
  neverGivesUp: true,
  queue: 'definitions',
  async reconcile(name, context) {
    const client = serverClients(context).resource(DEFINITIONS)
    const definition = (await client.get(name)) as CustomResourceDefinition | undefined
    if (definition?.metadata.deletionTimestamp === undefined) return undefined
    if (!definition.metadata.finalizers?.includes(CLEANUP)) return undefined
    // after a failure the condition stays until the deletion succeeds
    if (conditionOf(definition, 'Terminating')?.reason !== 'InstanceDeletionFailed')
      await tell(client, definition, context, {
        status: 'True',
        reason: 'InstanceDeletionInProgress',
        message: 'CustomResource deletion is in progress',
      })
    if (isEstablished(definition)) {
      const isLeft = await deleteInstances(definition, context).catch(async (error: unknown) => {
        if (error instanceof StatusError)
          await tell(client, definition, context, {
            status: 'True',
            reason: 'InstanceDeletionFailed',
            message: `could not list instances: ${error.message}`,
          })
        throw error
      })
      if (isLeft) return untilNextLook(definition.metadata.deletionTimestamp, context.now())
      const rest = untilUnknown(definition.metadata.deletionTimestamp, context)
      if (rest > 0) return rest
    }
    const done = isEstablished(definition)
      ? { status: 'False', reason: 'InstanceDeletionCompleted', message: 'removed all instances' }
      : { status: 'False', reason: 'NeverEstablished', message: 'resource was never established' }
    await client.updateStatusWithRetries(definition, (object) => {
      setCondition(object as CustomResourceDefinition, context.now(), { type: 'Terminating', ...done })
      const left = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP)
      if (left.length > 0) object.metadata.finalizers = left
      else delete object.metadata.finalizers
    })
    return undefined
  },
}

/**
 * Milliseconds until no other isolate creates an object of a definition that is being deleted. Such a request began
 * with a snapshot from before the deletion, and looks again once it has taken longer than UNCHECKED
 * (registry/write/still-served.ts). Only afterwards can nobody add to an empty type.
 */
function untilUnknown(deletionTimestamp: string, { env, now }: ControllerContext): number {
  if (!settingsOf(env).mayHaveOtherIsolates) return 0
  return Date.parse(deletionTimestamp) + SECOND_MS + LONGEST_AGE + UNCHECKED + ON_ITS_WAY_MS - now().getTime()
}

async function tell(
  client: ResourceClient,
  definition: CustomResourceDefinition,
  context: ControllerContext,
  condition: CustomResourceDefinitionCondition,
): Promise<void> {
  await client.updateStatusWithRetries(definition, (object) =>
    setCondition(object as CustomResourceDefinition, context.now(), { type: 'Terminating', ...condition }),
  )
}

/** @returns whether objects are left */
async function deleteInstances(definition: CustomResourceDefinition, context: ControllerContext): Promise<boolean> {
  const version = versionNamed(definition, storageVersion(definition))
  if (version === undefined) return false
  const entry = entryOf(definition, version)
  if (!(await wasWritten(context, entry.storage))) return false
  let isLeft = false
  for await (const object of registryClients(context).of(entry).each()) {
    const client = registryClients(context).of(entry, object.metadata.namespace)
    try {
      const { gone } = await client.delete(object)
      if (!gone) isLeft = true
    } catch (error) {
      if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error
      // another writer deleted the object first, and may have made another one of the name; or a webhook refused
      if ((await client.get(object.metadata.name ?? '')) !== undefined) isLeft = true
    }
  }
  return isLeft
}
