/** Writes what is used into the status of a quota. */
import type { ResourceQuota } from '../../api/core/v1.ts'
import { cloneJson } from '../../api/clone-json.ts'
import type { KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import type { Amounts } from '../../registry/quota/amounts.ts'
import { amountsOf, growth, textsOf } from '../../registry/quota/amounts.ts'
import { serverScope } from '../../registry/scope.ts'
import { trackingFields } from '../../registry/track-fields.ts'
import { BY_SERVER } from '../../registry/write/actor.ts'
import { withoutAdmission } from '../../registry/write/admission.ts'
import { updateWith } from '../../registry/write/update.ts'
import type { ApiCall } from '../../request/context.ts'

const RESOURCE_QUOTAS = { group: '', version: 'v1', resource: 'resourcequotas' }

/** How often the store's own tries are repeated: many may charge one quota at once. */
const ROUNDS = 10

export interface Charge {
  readonly namespace: string
  readonly name: string
  readonly amounts: Amounts
}

/**
 * @param usageAfter what is used after the write, from the quota as it is then; throws where the write does not fit
 * @returns undefined where nothing was to be charged
 */
export async function charge(
  request: ApiCall,
  { metadata }: ResourceQuota,
  usageAfter: (quota: ResourceQuota) => Amounts | undefined,
): Promise<Charge | undefined> {
  const { namespace = '', name = '' } = metadata
  let amounts: Amounts | undefined
  await changeUsage(request, namespace, name, (quota) => {
    const after = usageAfter(quota)
    amounts = after && growth(after, amountsOf(quota.status?.used))
    return after
  })
  return amounts && { namespace, name, amounts }
}

/** Never below zero: its controller may have counted meanwhile. */
export async function giveBack(request: ApiCall, { namespace, name, amounts }: Charge): Promise<void> {
  await changeUsage(request, namespace, name, ({ status }) => growth(amountsOf(status?.used), amounts))
}

/** A quota that is gone holds nobody back. */
async function changeUsage(
  request: ApiCall,
  namespace: string,
  name: string,
  change: (quota: ResourceQuota) => Amounts | undefined,
): Promise<void> {
  const scope = serverScope(request, RESOURCE_QUOTAS, { namespace, name, subresource: 'status' })
  for (let round = 1; ; round++) {
    try {
      await updateWith(scope, BY_SERVER, withoutAdmission, {
        mayCreate: false,
        *wanted(live) {
          // never undefined: an absent quota was answered with NotFound
          const quota: KubeObject & ResourceQuota = cloneJson(live!)
          const used = change(quota)
          if (used === undefined) return quota
          quota.status = { ...quota.status, used: textsOf(used) }
          yield* trackingFields(scope, live, quota, BY_SERVER.fieldManager)
          return quota
        },
      })
      return
    } catch (error) {
      const { reason } = error instanceof StatusError ? error.status : {}
      if (reason === 'NotFound') return
      if (reason !== 'Conflict' || round === ROUNDS) throw error
    }
  }
}
