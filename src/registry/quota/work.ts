/** Which writes are work for the quota controller. */
import type { ResourceQuota } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Change } from '../work/work.ts'
import { isSame } from './amounts.ts'
import type { Evaluator } from './evaluator.ts'

type Quota = KubeObject & ResourceQuota

/**
 * Milliseconds. After each period in which a quota was charged, the controller compares the quota once with the
 * existing objects.
 */
const PERIOD = 60_000

/** Whether an update changes an object's usage, now or later, or its scopes. (Every deletion is work.) */
export function changesUsage(evaluator: Evaluator, { object, old }: Change): boolean {
  if (object === undefined || old === undefined) return false
  const [after, before] = [object, old].map((one) => evaluator.usage(one, EVER))
  return (
    !isSame(before!, after!) ||
    evaluator.chargedUntil?.(object) !== evaluator.chargedUntil?.(old) ||
    evaluator.scopeOf?.(object) !== evaluator.scopeOf?.(old)
  )
}

/** A time before all deletions. Usage at this time includes objects whose grace period will end. */
const EVER = new Date(0)

/** Whether a limit of the quota changed. Then the status may lack a usage, and the controller must count. */
export const isNewLimit = (quota: Quota, old: Quota | undefined): boolean => limits(quota) !== limits(old)

const limits = (quota: Quota | undefined): string => JSON.stringify([quota?.spec?.hard, quota?.status?.hard])

/**
 * The period in which a write charged a quota. Every charge brings work for its own period and does not rely on an
 * earlier one: an earlier write in the same period may have charged nothing, or its request may have begun in the
 * period before.
 * @param now milliseconds since 1970: when the request began
 */
export function chargedIn(quota: Quota, old: Quota | undefined, now: number): number | undefined {
  const isSameUse = JSON.stringify(quota.status?.used) === JSON.stringify(old?.status?.used)
  return old === undefined || isSameUse ? undefined : Math.floor(now / PERIOD)
}

/**
 * At this time, storage has all charges of the period or will never get them, because a request has less than a minute.
 */
export const isOverAt = (period: number): number => (period + 2) * PERIOD
