/** Validates the rules that select requests for webhooks and policies. */
import { kept } from '../../base/parts.ts'
import type { MatchResources, NamedRuleWithOperations, RuleWithOperations } from '../../api/admissionregistration/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, invalidValue, notSupported, required } from '../../api/field.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { problems } from '../../validation/field-rules.ts'
import { validateLabelSelector } from '../../validation/label-selectors.ts'
import { pathSegmentName } from '../../validation/names.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const ALL = '*'
export const FAILURE_POLICIES = ['Fail', 'Ignore']
export const MATCH_POLICIES = ['Equivalent', 'Exact']
export const REINVOCATION_POLICIES = ['IfNeeded', 'Never']
const OPERATIONS = [ALL, 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const MUTABLE_OPERATIONS = [ALL, 'CONNECT', 'CREATE', 'UPDATE']
const SCOPES = [ALL, 'Cluster', 'Namespaced']

/** Checks a value of an enumeration. An absent value is no error. */
export const choiceErrors = (value: string | undefined, choices: readonly string[], at: FieldPath): FieldError[] =>
  value === undefined || choices.includes(value) ? [] : [notSupported(at, value, choices)]

export function ruleErrors(rule: RuleWithOperations, at: FieldPath): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule
  const operationsAt = at.child('operations')
  return [
    ...listErrors(operations, operationsAt, 'operations'),
    ...errorsOf(operations, (operation, index) => choiceErrors(operation, OPERATIONS, operationsAt.index(index))),
    ...listErrors(apiGroups, at.child('apiGroups'), 'API groups'),
    ...listErrors(apiVersions, at.child('apiVersions'), 'API versions'),
    ...emptyTexts(apiVersions, at.child('apiVersions')),
    ...resourceErrors(resources, at.child('resources')),
    ...choiceErrors(scope, SCOPES, at.child('scope')),
  ]
}

/** @param what plural noun for the values, for the message */
function listErrors(values: readonly string[], at: FieldPath, what: string): FieldError[] {
  if (values.length === 0) return [required(at)]
  return values.length > 1 && values.includes(ALL)
    ? [invalidValue(at, values, `if '*' is present, must not specify other ${what}`)]
    : []
}

const emptyTexts = (values: readonly string[], at: FieldPath): FieldError[] =>
  errorsOf(values, (value, index) => (value === '' ? [required(at.index(index))] : []))

/** Forms: `pods`, `pods/log`, `pods/*`, `*` before `/log`, `*`. No entry may be covered by another one. */
function resourceErrors(resources: readonly string[], at: FieldPath): FieldError[] {
  if (resources.length === 0) return [required(at)]
  const withAllSubresources = kept(resources, () => new Set<string>())
  const ofAllResources = kept(resources, () => new Set<string>())
  const errors = errorsOf(resources, (name, index) => {
    const wrong = name === '' ? [required(at.index(index))] : []
    const slash = name.indexOf('/')
    if (slash < 0) return wrong
    const [resource, subresource] = [name.slice(0, slash), name.slice(slash + 1)]
    const covered = (by: string) =>
      wrong.push(invalidValue(at.index(index), name, `if '${by}' is present, must not specify ${name}`))
    if (withAllSubresources.has(resource)) covered(`${resource}/*`)
    if (ofAllResources.has(subresource)) covered(`*/${subresource}`)
    if (subresource === ALL) withAllSubresources.add(resource)
    if (resource === ALL) ofAllResources.add(subresource)
    return wrong
  })
  if (resources.length > 1 && resources.includes('*/*'))
    errors.push(invalidValue(at, resources, "if '*/*' is present, must not specify other resources"))
  // kube-apiserver looks only at the last name without a subresource
  const last = resources.findLast((name) => name !== '' && !name.includes('/'))
  if (resources.includes(ALL) && last !== ALL)
    errors.push(invalidValue(at, resources, "if '*' is present, must not specify other resources without subresources"))
  return errors
}

/** Validates the lists of a policy or a binding. An absent list matches everything. */
export function matchErrors(match: MatchResources | undefined, at: FieldPath): FieldError[] {
  if (match === undefined) return []
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = match
  const selectors = { namespaceSelector, objectSelector }
  return [
    ...(matchPolicy === undefined
      ? [required(at.child('matchPolicy'))]
      : choiceErrors(matchPolicy, MATCH_POLICIES, at.child('matchPolicy'))),
    ...Object.entries(selectors).flatMap(([field, selector]) =>
      selector === undefined ? [required(at.child(field))] : validateLabelSelector(at.child(field), selector),
    ),
    ...errorsOf(resourceRules, (rule, index) => namedRuleErrors(rule, at.child('resourceRules').index(index))),
    ...errorsOf(excludeResourceRules, (rule, index) =>
      namedRuleErrors(rule, at.child('excludeResourceRules').index(index)),
    ),
  ]
}

function namedRuleErrors(rule: NamedRuleWithOperations, at: FieldPath): FieldError[] {
  const { resourceNames = [] } = rule
  const repeats = repeatsIn(resourceNames)
  const ofNames = errorsOf(resourceNames, (name, index) => {
    const nameAt = at.child('resourceNames').index(index)
    const errors = problems(nameAt, name, pathSegmentName(name, false))
    return repeats.has(index) ? [...errors, duplicate(nameAt, name)] : errors
  })
  return [...ofNames, ...ruleErrors(rule, at)]
}

/** A mutating policy cannot match DELETE, because a DELETE changes no object. */
export const mutableOperationErrors = ({ resourceRules = [] }: MatchResources, at: FieldPath): FieldError[] =>
  errorsOf(resourceRules, ({ operations = [] }) =>
    errorsOf(operations, (operation) =>
      choiceErrors(operation, MUTABLE_OPERATIONS, at.child('resourceRules', 'operations')),
    ),
  )
