/** Reads the other objects that are needed to count a request's usage. */
import type { ResourceQuota } from '../../../api/core/v1.ts'
import type { GroupResource } from '../../../api/group-version.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { QuotaReader } from '../../../registry/quota/evaluator.ts'
import type { usageOf } from '../../../registry/quota/tracked.ts'
import { servedResources } from '../../../registry/served/served.ts'
import type { ApiCall } from '../../../request/context.ts'
import { storedObject } from '../../../tenancy/stored-object.ts'
import { eachStoredObject } from '../../../tenancy/stored-objects.ts'

export const storedReader = (request: ApiCall): QuotaReader => ({
  list: (resource, namespace) => eachStoredObject<KubeObject>(request, resource, namespace),
  get: (resource, namespace, name) => storedObject<KubeObject>(request, resource, `${namespace}/${name}`),
})

/** Reads objects in the quota's namespace. */
export const storedFor = (request: ApiCall, { metadata }: ResourceQuota): Parameters<typeof usageOf>[2] => ({
  ...storedReader(request),
  async objectsOf({ group, resource }: GroupResource) {
    const stored = (await servedResources(request)).inGroup(group).find((one) => one.resource === resource)?.storage
    return eachStoredObject<KubeObject>(request, stored ?? { group, resource }, metadata.namespace)
  },
})
