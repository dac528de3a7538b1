/**
 * A quota may limit a resource for which its status has no usage yet: the quota is new, an earlier release made it, a
 * client emptied its status, or the resource was added to it. The limit still holds. So before a write uses such a
 * resource, the current usage is counted as the quota's controller does it.
 */
import type { ResourceQuota } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import { amountsOf, only, textsOf } from '../../../registry/quota/amounts.ts'
import type { Amounts } from '../../../registry/quota/amounts.ts'
import { unknownNames } from '../../../registry/quota/check.ts'
import type { Evaluator } from '../../../registry/quota/evaluator.ts'
import { usageOf } from '../../../registry/quota/tracked.ts'
import type { Admission } from '../../../registry/write/admission.ts'
import type { Attributes } from '../../attributes.ts'
import { changeStatus } from './charge.ts'
import { storedFor } from './stored.ts'

type Quota = ResourceQuota & KubeObject

/** @returns the quota with a status that has all usage that the write needs */
export async function settled(
  { request, dryRun }: Attributes,
  admission: Admission,
  quota: Quota,
  evaluator: Evaluator,
): Promise<Quota> {
  const names = new Set(unknownNames(quota, evaluator))
  if (names.size === 0) return quota
  // other resources may use the same names, so their usage counts too
  const { used } = await usageOf(quota, names, storedFor(request, quota), request.now)
  if (!dryRun) await changeStatus(request, admission, quota.metadata, (live) => filled(live, evaluator, used))
  return { ...quota, status: filled(quota, evaluator, used) ?? quota.status }
}

/** Adds the missing names only: other names may have been charged since the count. */
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
