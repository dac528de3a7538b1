/** Counts the usage of a quota by the objects of its namespace. */
import type { ResourceQuota } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { Quantity } from '../../schema/quantity.ts'
import type { Amounts } from './amounts.ts'
import { only, sum } from './amounts.ts'
import type { Evaluator } from './evaluator.ts'
import { isInScope } from './evaluators.ts'

export interface Counted {
  readonly used: Amounts
  /** Milliseconds since 1970. At this time the usage falls without a write. Infinity: it never does. */
  readonly fallsAt: number
}

/** @param names the quota's names that the evaluator tracks; the result has all of them */
export async function countUsage(
  quota: ResourceQuota,
  evaluator: Evaluator,
  names: ReadonlySet<string>,
  objects: AsyncIterable<KubeObject>,
  now: Date,
): Promise<Counted> {
  let used: Amounts = new Map([...names].map((name) => [name, Quantity.zero]))
  let fallsAt = Infinity
  for await (const object of objects) {
    if (!isInScope(evaluator, quota, object)) continue
    await evaluator.learn?.(object)
    used = sum(used, only(evaluator.usage(object, now), names))
    const until = evaluator.chargedUntil?.(object) ?? Infinity
    if (until >= now.getTime()) fallsAt = Math.min(fallsAt, until + 1)
  }
  return { used, fallsAt }
}
