import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, path, required } from '../../api/field.ts'
import type { PolicyRule } from '../../api/rbac/v1.ts'
import { errorsOf } from '../../validation/errors-of.ts'

export const RULES = path('rules')

export const rulesErrors = (rules: readonly PolicyRule[] | undefined, scope: 'namespace' | 'cluster'): FieldError[] =>
  errorsOf(rules ?? [], (rule, index) => ruleErrors(rule, scope, RULES.index(index)))

function ruleErrors(rule: PolicyRule, scope: 'namespace' | 'cluster', at: FieldPath): FieldError[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const errors = verbs.length > 0 ? [] : [required(at.child('verbs'), 'verbs must contain at least one value')]
  if (nonResourceURLs.length > 0) {
    const wrong = (detail: string) => errors.push(invalidValue(at.child('nonResourceURLs'), nonResourceURLs, detail))
    if (scope === 'namespace') wrong('namespaced rules cannot apply to non-resource URLs')
    if (apiGroups.length + resources.length + resourceNames.length > 0)
      wrong('rules cannot apply to both regular resources and non-resource URLs')
    return errors
  }
  if (apiGroups.length === 0)
    errors.push(required(at.child('apiGroups'), 'resource rules must supply at least one api group'))
  if (resources.length === 0)
    errors.push(required(at.child('resources'), 'resource rules must supply at least one resource'))
  return errors
}
