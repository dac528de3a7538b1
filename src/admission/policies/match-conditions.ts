/** Conditions that all must hold for a policy or a webhook to apply (apiserver's webhook/matchconditions). */
import { aggregate } from '../../authorization/verdict.ts'
import type { CompiledVariable } from '../../expressions/admission-expressions.ts'
import { MATCH_CONDITIONS_BUDGET } from '../../expressions/environments.ts'
import type { CompiledCondition } from './compiled-policy.ts'
import type { Subject } from './evaluation.ts'
import { Evaluation, OutOfBudget } from './evaluation.ts'

/** Text: it cannot be told, and what would apply fails the request. */
export type Matches = boolean | { readonly error: string }

export async function conditionsMatch(
  conditions: readonly CompiledCondition[],
  variables: readonly CompiledVariable[],
  subject: Subject,
  failurePolicy: string | undefined,
): Promise<Matches> {
  if (conditions.length === 0) return true
  // conditions see no namespace
  const seen = { ...subject, namespaceObject: undefined, request: subject.requestOfConditions }
  const evaluation = new Evaluation(seen, variables, MATCH_CONDITIONS_BUDGET)
  const undecided = (error: string): Matches => (failurePolicy === 'Ignore' ? false : { error })
  const errors: string[] = []
  let isMet = true
  try {
    for (const { expression } of conditions) {
      const evaluated = await evaluation.run(expression)
      if (evaluated.error !== undefined) errors.push(evaluated.error)
      else if (evaluated.value === false) isMet = false
    }
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
    return undecided(error.message)
  }
  if (!isMet) return false
  return errors.length === 0 ? true : undecided(aggregate(errors))
}
