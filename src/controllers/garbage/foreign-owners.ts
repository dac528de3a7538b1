/**
 * Writes an Event about an object whose owner is in another namespace, because the collector may delete the object for
 * that (kube-controller-manager's garbage collector). An owner must be in the namespace of its dependents, or in none.
 */
import type { Event } from '../../api/core/v1.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { timeText } from '../../schema/time.ts'
import { managerClients } from '../client/clientset.ts'
import type { ControllerContext } from '../controller.ts'
import type { Found } from './owners.ts'
import { findObject, ownerEntry } from './owners.ts'
import { isRefusal } from '../work/refusal.ts'

const EVENTS = { group: '', resource: 'events' }
const COMPONENT = 'garbage-collector-controller'

/** The most owners of an object that are looked for elsewhere: for each of them all objects of its kind are. */
const MOST_LOOKED_FOR = 16
/** The most objects of their names that are read for one object. There may be one in every namespace. */
const MOST_READ = 1_000

export async function reportForeignOwners(context: ControllerContext, dependent: Found): Promise<void> {
  const reads = { left: MOST_READ }
  for (const owner of (dependent.object.metadata.ownerReferences ?? []).slice(0, MOST_LOOKED_FOR))
    if (await isElsewhere(context, owner, dependent.namespace, reads)) await report(context, dependent, owner)
}

async function isElsewhere(
  context: ControllerContext,
  owner: OwnerReference,
  namespace: string,
  reads: { left: number },
): Promise<boolean> {
  const entry = await ownerEntry(context, owner)
  if (entry === undefined || !entry.namespaced || !entry.persisted) return false
  const { group, resource } = entry.storage
  const { name = '', uid = '' } = owner
  if (namespace !== '' && (await findObject(context, { group, resource, namespace, name, uid })) !== undefined)
    return false
  if (reads.left <= 0) return false
  const named = managerClients(context).resource({ group, resource })
  for await (const { metadata } of named.each({ fields: { 'metadata.name': name } })) {
    if (metadata.uid === uid) return true
    if (--reads.left <= 0) return false
  }
  return false
}

async function report(context: ControllerContext, dependent: Found, owner: OwnerReference): Promise<void> {
  const { object, namespace } = dependent
  const { kind, apiVersion, metadata } = object
  const now = context.now()
  const time = timeText(now)
  const within = namespace === '' ? 'default' : namespace
  const identity = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`
  const event: KubeObject & Event = {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: `${metadata.name}.${(BigInt(now.getTime()) * 1_000_000n).toString(16)}`, namespace: within },
    involvedObject: {
      kind,
      apiVersion,
      name: metadata.name,
      uid: metadata.uid,
      ...(namespace === '' ? {} : { namespace }),
    },
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef ${identity} does not exist in namespace ${JSON.stringify(namespace)}`,
    source: { component: COMPONENT },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    type: 'Warning',
    reportingComponent: COMPONENT,
    reportingInstance: '',
  }
  await managerClients(context).resource(EVENTS, within).create(event).catch(ignoreRefused)
}

/** Ignores that the namespace is gone or the name is taken: the Event is only a hint, so nothing retries it. */
function ignoreRefused(error: unknown): void {
  if (!isRefusal(error)) throw error
}
