/** Decides whether the usage of a write fits into a quota, and computes the quota's usage after the write. */
import type { ResourceQuota } from '../../api/core/v1.ts'
import type { Amounts } from './amounts.ts'
import { amountsOf, amountsText, growth, isSame, only, sum, withoutZeros } from './amounts.ts'
import type { Evaluator, Write } from './evaluator.ts'
import { isInScope } from './evaluators.ts'

export type Checked =
  | { readonly refusal: string }
  /** The usage after the write. Undefined if the write does not change it. */
  | { readonly used: Amounts | undefined }

/** The names that the spec limits now, and those that the status limits. */
export const namesOf = ({ spec, status }: ResourceQuota): string[] => [
  ...new Set([...Object.keys(spec?.hard ?? {}), ...Object.keys(status?.hard ?? {})]),
]

/** The tracked names without a limit or a usage in the status. */
export function unknownNames(quota: ResourceQuota, evaluator: Evaluator): string[] {
  const { hard = {}, used = {} } = quota.status ?? {}
  return namesOf(quota).filter(
    (one) => evaluator.tracks(one) && !(Object.hasOwn(hard, one) && Object.hasOwn(used, one)),
  )
}

const UNCHANGED: Checked = { used: undefined }

export function checkQuota(quota: ResourceQuota, evaluator: Evaluator, write: Write, now: Date): Checked {
  const { object, oldObject, subresource } = write
  const name = quota.metadata.name ?? ''
  const tracked = namesOf(quota)
    .filter((one) => evaluator.tracks(one))
    .sort()
  if (tracked.length === 0 || !isInScope(evaluator, quota, object)) return UNCHANGED
  const problem = evaluator.problem?.(tracked, object)
  if (problem !== undefined) return { refusal: `failed quota: ${name}: ${problem}` }
  if (unknownNames(quota, evaluator).length > 0)
    return { refusal: `status unknown for quota: ${name}, resources: ${tracked.join(',')}` }
  const hard = amountsOf(quota.status?.hard)
  const used = amountsOf(quota.status?.used)
  const usage = evaluator.usage(object, now)
  const negative = [...usage].filter(([, amount]) => amount.sign < 0).map(([one]) => one)
  if (negative.length > 0) return { refusal: `quota usage is negative for resource(s): ${negative.sort().join(',')}` }
  const wasCounted = oldObject !== undefined && isInScope(evaluator, quota, oldObject)
  const grown = wasCounted ? growth(usage, evaluator.usage(oldObject, now)) : usage
  const asked = only(withoutZeros(grown), new Set(hard.keys()))
  const after = sum(used, asked)
  if (isSame(used, after)) return UNCHANGED
  const exceeded = new Set([...asked.keys()].filter((one) => after.get(one)!.compare(hard.get(one)!) > 0))
  // the controller writes the counted usage even if it exceeds the limit
  if (exceeded.size === 0 || subresource === 'status') return { used: after }
  const [requested, before, limited] = [asked, used, hard].map((amounts) => amountsText(only(amounts, exceeded)))
  return { refusal: `exceeded quota: ${name}, requested: ${requested}, used: ${before}, limited: ${limited}` }
}
