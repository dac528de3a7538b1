/** Decides whether the usage of a write fits into a quota, and computes what the write adds to the quota's usage. */
import type { ResourceQuota } from '../../api/core/v1.ts'
import type { Amounts } from './amounts.ts'
import { amountsNamed, amountsText, growth, only, sum, withoutZeros } from './amounts.ts'
import type { Evaluator, Write } from './evaluator.ts'
import { isInScope } from './evaluators.ts'

export type Checked =
  | { readonly refusal: string }
  /** What the write adds to the usage. Undefined if it adds nothing. */
  | { readonly added: Amounts | undefined }

/** The names that the spec limits now, and those that the status limits. */
export const namesOf = ({ spec, status }: ResourceQuota): string[] => [
  ...new Set([...Object.keys(spec?.hard ?? {}), ...Object.keys(status?.hard ?? {})]),
]

/** The tracked names without a limit or a usage in the status. */
export const unknownNames = (quota: ResourceQuota, evaluator: Evaluator): string[] =>
  namesOf(quota).filter((one) => evaluator.tracks(one) && isUnknown(quota, one))

const isUnknown = ({ status }: ResourceQuota, name: string): boolean =>
  !(Object.hasOwn(status?.hard ?? {}, name) && Object.hasOwn(status?.used ?? {}, name))

const UNCHANGED: Checked = { added: undefined }

export function checkQuota(quota: ResourceQuota, evaluator: Evaluator, write: Write, now: Date): Checked {
  const { object, oldObject, subresource } = write
  const name = quota.metadata.name ?? ''
  const tracked = namesOf(quota)
    .filter((one) => evaluator.tracks(one))
    .sort()
  if (tracked.length === 0 || !isInScope(evaluator, quota, object)) return UNCHANGED
  const problem = evaluator.problem?.(tracked, object)
  if (problem !== undefined) return { refusal: `failed quota: ${name}: ${problem}` }
  if (tracked.some((one) => isUnknown(quota, one)))
    return { refusal: `status unknown for quota: ${name}, resources: ${tracked.join(',')}` }
  const usage = evaluator.usage(object, now)
  const negative = [...usage].filter(([, amount]) => amount.sign < 0).map(([one]) => one)
  if (negative.length > 0) return { refusal: `quota usage is negative for resource(s): ${negative.sort().join(',')}` }
  const wasCounted = oldObject !== undefined && isInScope(evaluator, quota, oldObject)
  const grown = withoutZeros(wasCounted ? growth(usage, evaluator.usage(oldObject, now)) : usage)
  // a quota may have very many other names
  const hard = amountsNamed(grown.keys(), quota.status?.hard)
  if (hard.size === 0) return UNCHANGED
  const added = only(grown, hard)
  const used = amountsNamed(hard.keys(), quota.status?.used)
  const after = sum(used, added)
  const exceeded = new Set([...hard.keys()].filter((one) => after.get(one)!.compare(hard.get(one)!) > 0))
  // the controller writes the counted usage even if it exceeds the limit
  if (exceeded.size === 0 || subresource === 'status') return { added }
  const [requested, before, limited] = [added, used, hard].map((amounts) => amountsText(only(amounts, exceeded)))
  return { refusal: `exceeded quota: ${name}, requested: ${requested}, used: ${before}, limited: ${limited}` }
}
