/**
 * A quota may limit something of which its status has no usage yet: the quota is new, an earlier release made it, a client
 * emptied its status, or the resource was added later. The quota still holds. So a write that would use some of it first
 * counts what is used, as the quota's controller would.
 */
import type { ResourceQuota } from '../../api/core/v1.ts'
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { amountsOf, only, textsOf } from '../../registry/quota/amounts.ts'
import type { Amounts } from '../../registry/quota/amounts.ts'
import { unknownNames } from '../../registry/quota/check.ts'
import { countUsage } from '../../registry/quota/count.ts'
import type { Evaluator } from '../../registry/quota/evaluator.ts'
import type { Admission } from '../../registry/write/admission.ts'
import { servedResources } from '../../registry/served.ts'
import type { ApiCall } from '../../request/context.ts'
import { eachStoredObject } from '../../tenancy/stored-objects.ts'
import type { Attributes } from '../attributes.ts'
import { changeStatus } from './charge.ts'

type Quota = ResourceQuota & KubeObject

/** @returns the quota, with a status that says all that the write needs */
export async function settled(
  { request, resource, dryRun }: Attributes,
  admission: Admission,
  quota: Quota,
  evaluator: Evaluator,
): Promise<Quota> {
  const names = new Set(unknownNames(quota, evaluator))
  if (names.size === 0) return quota
  const counted = await usedIn(request, quota, evaluator, resource, names)
  if (!dryRun) await changeStatus(request, admission, quota.metadata, (live) => filled(live, evaluator, counted))
  return { ...quota, status: filled(quota, evaluator, counted) ?? quota.status }
}

/** Adds the missing names only. The others may have been charged since they were counted. */
function filled(quota: ResourceQuota, evaluator: Evaluator, counted: Amounts): ResourceQuota['status'] {
  const { spec, status } = quota
  const missing = new Set(unknownNames(quota, evaluator).filter((name) => counted.has(name)))
  if (missing.size === 0) return undefined
  const limits = only(amountsOf(spec?.hard), missing)
  return {
    hard: textsOf(new Map([...limits, ...amountsOf(status?.hard)])),
    used: textsOf(new Map([...only(counted, missing), ...amountsOf(status?.used)])),
  }
}

async function usedIn(
  request: ApiCall,
  quota: Quota,
  evaluator: Evaluator,
  { group, resource }: GroupResource,
  names: ReadonlySet<string>,
): Promise<Amounts> {
  const stored = (await servedResources(request)).inGroup(group).find((one) => one.resource === resource)?.storage
  const objects = eachStoredObject<KubeObject>(request, stored ?? { group, resource }, quota.metadata.namespace)
  return (await countUsage(quota, evaluator, names, objects, request.now)).used
}
