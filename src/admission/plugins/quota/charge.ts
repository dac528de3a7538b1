/** Writes usage into the status of a quota. */
import type { ResourceQuota } from '../../../api/core/v1.ts'
import type { KubeObject, ObjectMeta } from '../../../api/object.ts'
import { StatusError } from '../../../api/status.ts'
import type { Amounts } from '../../../registry/quota/amounts.ts'
import { amountsNamed, growth, sum, textsOf } from '../../../registry/quota/amounts.ts'
import { loopbackScope } from '../../../registry/scope.ts'
import { readLive } from '../../../registry/store.ts'
import type { Admission } from '../../../registry/write/admission.ts'
import { changeAsServer } from '../../../registry/write/change-as-server.ts'
import type { ApiCall } from '../../../request/context.ts'

const RESOURCE_QUOTAS = { group: '', version: 'v1', resource: 'resourcequotas' }

/** How often the store's own tries are repeated: many writers may charge one quota at once. */
const ROUNDS = 10

export interface Charge {
  readonly namespace: string
  readonly name: string
  readonly amounts: Amounts
}

/**
 * @param addedTo computes from the current quota what the write adds to its usage; throws where the write does not fit
 * @returns undefined where nothing was charged
 */
export async function charge(
  request: ApiCall,
  admission: Admission,
  { metadata }: ResourceQuota,
  addedTo: (quota: ResourceQuota) => Amounts | undefined,
): Promise<Charge | undefined> {
  const { namespace = '', name = '' } = metadata
  let amounts: Amounts | undefined
  await changeStatus(request, admission, { namespace, name }, (quota) => {
    amounts = addedTo(quota)
    return amounts && withUsage(quota, sum(usedOf(quota, amounts), amounts))
  })
  return amounts && { namespace, name, amounts }
}

/** The usage never falls below zero: the quota's controller may have recounted meanwhile, without this write. */
export const giveBack = (request: ApiCall, admission: Admission, { namespace, name, amounts }: Charge): Promise<void> =>
  changeStatus(request, admission, { namespace, name }, (quota) =>
    withUsage(quota, growth(usedOf(quota, amounts), amounts)),
  )

const usedOf = ({ status }: ResourceQuota, amounts: Amounts): Amounts => amountsNamed(amounts.keys(), status?.used)

/** The status with the usage of some names changed. */
const withUsage = ({ status }: ResourceQuota, changed: Amounts): ResourceQuota['status'] => ({
  ...status,
  used: { ...status?.used, ...textsOf(changed) },
})

/**
 * A deleted quota limits nothing, so NotFound is no error.
 * @param change makes the new status from the current quota; undefined leaves the status as it is
 */
export async function changeStatus(
  request: ApiCall,
  admission: Admission,
  { namespace = '', name = '' }: ObjectMeta,
  change: (quota: ResourceQuota) => ResourceQuota['status'],
): Promise<void> {
  const scope = loopbackScope(request, 'update', RESOURCE_QUOTAS, { namespace, name, subresource: 'status' })
  for (let round = 1; ; round++) {
    try {
      await changeAsServer<KubeObject & ResourceQuota>(scope, admission, (quota) => {
        const status = change(quota)
        if (status !== undefined) quota.status = status
      })
      return
    } catch (error) {
      const { reason } = error instanceof StatusError ? error.status : {}
      // a webhook may also refuse with NotFound
      if (reason === 'NotFound' && (await readLive(scope, name)) === undefined) return
      if (reason !== 'Conflict' || round === ROUNDS) throw error
    }
  }
}
