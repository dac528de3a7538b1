/** Which writes are work for the controller of quotas. */
import type { ResourceQuota } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Change } from '../work.ts'
import { isSame } from './amounts.ts'
import type { Evaluator } from './evaluator.ts'

type Quota = KubeObject & ResourceQuota

/** Milliseconds. After each period with charges the controller once compares the quota with the objects that exist. */
const PERIOD = 60_000

/** Whether an update changes an object's usage, now or soon, or its scope. (A deletion is work in any case.) */
export function changesUsage(evaluator: Evaluator, { object, old }: Change): boolean {
  if (object === undefined || old === undefined) return false
  const [after, before] = [object, old].map((one) => evaluator.usage(one, EVER))
  return (
    !isSame(before!, after!) ||
    evaluator.chargedUntil?.(object) !== evaluator.chargedUntil?.(old) ||
    evaluator.scopeOf?.(object) !== evaluator.scopeOf?.(old)
  )
}

/** Usage that only the passing of time frees. */
const EVER = new Date(0)

/** Whether the quota's limits need a count: its status may lack them. */
export const isNewLimit = (quota: Quota, old: Quota | undefined): boolean => limits(quota) !== limits(old)

const limits = (quota: Quota | undefined): string => JSON.stringify([quota?.spec?.hard, quota?.status?.hard])

/**
 * The period in which a quota was charged. Every charge says it. No charge may leave that to one before it: what wrote the
 * quota before, in the same period, may have charged nothing, or have been on its way since the period before.
 * @param now milliseconds since 1970: when the request began
 */
export function chargedIn(quota: Quota, old: Quota | undefined, now: number): number | undefined {
  const isSameUse = JSON.stringify(quota.status?.used) === JSON.stringify(old?.status?.used)
  return old === undefined || isSameUse ? undefined : Math.floor(now / PERIOD)
}

/** When all that was charged in a period is written, or never will be: a request has less than a minute. */
export const isOverAt = (period: number): number => (period + 2) * PERIOD
