/**
 * Conditions of a policy or webhook, which applies only where all of them hold (apiserver's webhook/matchconditions).
 */
import type { ApiCall } from '../../request/context.ts'
import { aggregate } from '../../authorization/verdict.ts'
import type { ConditionsOwner } from '../../metrics/admission.ts'
import { measureConditions } from '../../metrics/admission.ts'
import type { CompiledVariable } from '../../expressions/admission-expressions.ts'
import { MATCH_CONDITIONS_BUDGET } from '../../expressions/environments.ts'
import type { CompiledCondition } from './compiled-policy.ts'
import type { Subject } from './evaluation.ts'
import { Evaluation, OutOfBudget } from './evaluation.ts'

/** `error`: the conditions could not be evaluated. A policy or webhook that fails closed then fails the request. */
export type Matches = boolean | { readonly error: string }

/** @param owner labels of the metrics; absent: nothing is measured */
export async function conditionsMatch(
  conditions: readonly CompiledCondition[],
  variables: readonly CompiledVariable[],
  subject: Subject,
  failurePolicy: string | undefined,
  owner?: { readonly request: ApiCall; readonly labels: ConditionsOwner },
): Promise<Matches> {
  if (conditions.length === 0) return true
  const clock = owner?.request.clock ?? (() => 0)
  const began = clock()
  const errors: string[] = []
  const matches = await evaluated(conditions, variables, subject, failurePolicy, errors)
  if (owner !== undefined)
    measureConditions(owner.request, owner.labels, {
      errors: errors.length,
      // kube-apiserver measures the duration only in these cases
      seconds: matches === true && errors.length === 0 ? undefined : (clock() - began) / 1000,
      isExcluded: matches === false,
    })
  return matches
}

/** @param errors receives the errors of the conditions before the first one that is false */
async function evaluated(
  conditions: readonly CompiledCondition[],
  variables: readonly CompiledVariable[],
  subject: Subject,
  failurePolicy: string | undefined,
  errors: string[],
): Promise<Matches> {
  // in conditions namespaceObject is not available
  const seen = { ...subject, namespaceObject: undefined, request: subject.requestOfConditions }
  const evaluation = new Evaluation(seen, variables, MATCH_CONDITIONS_BUDGET)
  const undecided = (error: string): Matches => (failurePolicy === 'Ignore' ? false : { error })
  let isMet = true
  try {
    for (const { expression } of conditions) {
      const one = await evaluation.run(expression)
      if (one.error === undefined) isMet &&= one.value !== false
      else if (isMet) errors.push(one.error)
    }
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
    return undecided(error.message)
  }
  if (!isMet) return false
  return errors.length === 0 ? true : undecided(aggregate(errors))
}
