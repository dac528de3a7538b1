/**
 * A backup is restored only into a control plane without objects of users. Objects that the system wrote may be
 * there.
 */
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { isSimulated, KUBELET_MANAGER } from '../../api/simulated-node.ts'
import { StatusError } from '../../api/status.ts'
import { CONTROLLER_ACCOUNTS } from '../../bootstrap/controller-accounts.ts'
import { DEFAULT_SERVICE_ACCOUNT } from '../../registry/core/service-accounts.ts'
import { collectionOf } from '../../storage/collections.ts'
import { liveOf } from '../../codec/stored-object.ts'
import type { ApiRequest } from '../../request/context.ts'
import { linesOf } from '../../storage/streams/lines.ts'
import { forEachShard } from '../../storage/shards/for-each-shard.ts'
import { everything } from '../../storage/selectors/selection.ts'
import { storageOf } from '../../storage/environment-storage.ts'
import type { Revision } from '../../storage/storage.ts'

/**
 * @returns by shard, the revision at which it was found empty; a later write is not covered
 * @throws StatusError 409
 */
export async function revisionsIfEmpty(
  request: ApiRequest,
  types: readonly GroupResource[],
): Promise<Map<string, Revision>> {
  const storage = storageOf(request.env)
  const revisions = new Map<string, Revision>()
  await forEachShard(types, async (type) => {
    const collection = collectionOf(request.tenant, type)
    const { values, revision } = await storage.list(collection, { selection: everything, at: { kind: 'latest' } })
    // the oldest revision of the types in the shard
    revisions.set(collection.shard, Math.min(revision, revisions.get(collection.shard) ?? Infinity))
    for await (const text of linesOf(values)) {
      const { object } = liveOf({ revision: 0, text })
      const { metadata } = object
      const writer = isBareSystemObject(type, object) ? undefined : otherWriterOf(object)
      if (writer !== undefined)
        throw new StatusError(
          409,
          'Conflict',
          `a backup is restored into an empty control plane, and here is ${type.resource} "${metadata.name}", written by ${writer}`,
          {},
        )
    }
  })
  return revisions
}

/**
 * The manager that is not the system; undefined where only the system wrote the object. An object without
 * managedFields counts as a user's. So does a node that a real kubelet wrote.
 */
function otherWriterOf(object: KubeObject): string | undefined {
  const { managedFields = [] } = object.metadata
  if (managedFields.length === 0) return 'somebody who left no name in its managedFields'
  const isOfSystem = (manager: string): boolean =>
    SYSTEM_MANAGERS.has(manager) || (manager === KUBELET_MANAGER && isSimulated(object))
  return managedFields.map(({ manager = '' }) => manager).find((manager) => !isOfSystem(manager))
}

/**
 * Whether it is an object of the system that has no managers and no data of users: the ServiceAccounts of namespaces
 * and controllers, and the ConfigMap of authorities where there are none.
 */
function isBareSystemObject({ group, resource }: GroupResource, object: KubeObject): boolean {
  if (group !== '') return false
  const { namespace = '', name = '', labels, annotations, finalizers, ownerReferences } = object.metadata
  const isNamed =
    resource === 'serviceaccounts'
      ? name === DEFAULT_SERVICE_ACCOUNT || (namespace === 'kube-system' && controllerAccounts.has(name))
      : resource === 'configmaps' && namespace === 'kube-system' && name === 'extension-apiserver-authentication'
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...rest } = object
  const isBare = [labels, annotations, finalizers, ownerReferences].every((field) => field === undefined)
  return isNamed && isBare && Object.keys(rest).length === 0
}

const controllerAccounts: ReadonlySet<string> = new Set(CONTROLLER_ACCOUNTS)

/**
 * The managers of a new control plane's own objects (see src/bootstrap), and of the objects that `kedge start` makes.
 */
const SYSTEM_MANAGERS = new Set([
  'kube-apiserver',
  'kube-controller-manager',
  'kubernetes-service-cidr-controller',
  'service-cidr-controller',
  'clusterrole-aggregation-controller',
  'api-priority-and-fairness-config-producer-v1',
  'api-priority-and-fairness-config-consumer-v1',
  'kedge-start',
  'simulated-kubelet',
])
