/** The pod failure policy and the success policy of a Job. */
import type { Job, PodFailurePolicyOnExitCodesRequirement } from '../../../api/batch/v1.ts'
import type { ContainerStatus, Pod } from '../../../api/core/v1.ts'
import { Indexes } from './indexes.ts'

export interface Verdict {
  /** Why the whole Job fails. */
  readonly message?: string
  /** Whether the failure counts toward backoffLimit or backoffLimitPerIndex. */
  readonly counts: boolean
  readonly action?: 'Ignore' | 'Count' | 'FailJob' | 'FailIndex'
}

const UNDECIDED: Verdict = { counts: true }

/** The first rule that matches a failed pod decides. */
export function judge({ spec }: Job, pod: Pod): Verdict {
  const rules = spec?.podFailurePolicy?.rules ?? []
  const { namespace, name } = pod.metadata
  for (const [index, { action, onExitCodes, onPodConditions }] of rules.entries()) {
    const container = onExitCodes === undefined ? undefined : failedContainer(pod, onExitCodes)
    const condition = onPodConditions === undefined ? undefined : matchingCondition(pod, onPodConditions)
    if (container === undefined && condition === undefined) continue
    if (action === 'Ignore') return { counts: false, action }
    if (action === 'Count' || action === 'FailIndex') return { counts: true, action }
    if (action !== 'FailJob') continue
    const what =
      container === undefined
        ? `Pod ${namespace}/${name} has condition ${condition}`
        : `Container ${container.name} for pod ${namespace}/${name} failed with exit code ${container.state?.terminated?.exitCode}`
    return { message: `${what} matching ${action} rule at index ${index}`, counts: true, action }
  }
  return UNDECIDED
}

function failedContainer(
  { status }: Pod,
  { containerName, operator, values = [] }: PodFailurePolicyOnExitCodesRequirement,
): ContainerStatus | undefined {
  const wanted = new Set(values)
  return [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].find(({ name, state }) => {
    const code = state?.terminated?.exitCode
    if (code === undefined || code === 0 || (containerName !== undefined && containerName !== name)) return false
    return operator === 'In' ? wanted.has(code) : operator === 'NotIn' && !wanted.has(code)
  })
}

function matchingCondition(
  { status }: Pod,
  patterns: readonly { readonly type?: string; readonly status?: string }[],
): string | undefined {
  const wanted = new Set(patterns.map(({ type, status: value = 'True' }) => `${type} ${value}`))
  return status?.conditions?.find(({ type, status: value }) => wanted.has(`${type} ${value}`))?.type
}

/** The message about the success rule that the succeeded indexes meet; undefined: they meet none. */
export function successOf({ spec }: Job, succeeded: Indexes): string | undefined {
  if (succeeded.size === 0) return undefined
  for (const [index, { succeededIndexes, succeededCount }] of (spec?.successPolicy?.rules ?? []).entries()) {
    const wanted = succeededIndexes === undefined ? undefined : Indexes.parse(succeededIndexes, spec?.completions ?? 0)
    if (wanted?.size === 0) continue
    const reached = wanted === undefined ? succeeded.size : wanted.common(succeeded)
    if (reached >= (succeededCount ?? wanted?.size ?? Infinity)) return `Matched rules at index ${index}`
  }
  return undefined
}
