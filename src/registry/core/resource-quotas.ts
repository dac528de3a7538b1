import type { ResourceQuota, ResourceQuotaSpec } from '../../api/core/v1.ts'
import { sentField } from '../../schema/emptied.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, named, path, required } from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import { Quantity } from '../../schema/quantity.ts'
import { immutable } from '../../validation/field-rules.ts'
import { validateAmount, validateResourceName } from '../../validation/pod/resources.ts'
import { resourceQuotaPrinter } from '../../codec/table/core.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { chargedIn, isNewLimit } from '../quota/work.ts'
import { keyOf, storedOnce, work } from '../work/work.ts'
import { countEvaluator } from '../quota/count-evaluator.ts'
import { errorsByName, errorsOf } from '../../validation/errors-of.ts'

const spec = path('spec')
const status = path('status')
const HUGE_PAGES = /^(requests\.)?hugepages-/

const ofPods = ['pods', 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']
const standardNames = new Set([
  ...ofPods,
  'ephemeral-storage',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.ephemeral-storage',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
])

/** The resources that a scope can limit. */
const scopes: Readonly<Record<string, readonly string[]>> = {
  Terminating: ofPods,
  NotTerminating: ofPods,
  NotBestEffort: ofPods,
  PriorityClass: ofPods,
  CrossNamespacePodAffinity: ofPods,
  BestEffort: ['pods'],
  VolumeAttributesClass: ['persistentvolumeclaims', 'requests.storage'],
}
const onlyExists = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity']
const exclusive = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const

export const resourceQuotas: BuiltInDefinition<ResourceQuota> = {
  printer: resourceQuotaPrinter,
  quota: countEvaluator('count/resourcequotas', 'resourcequotas'),
  work({ object, old, now }) {
    if (object === undefined) return []
    // the controller counts at once, and a client that writes a new limit into the status charges nothing
    if (isNewLimit(object, old)) return work('resource-quota', object.metadata.namespace)
    const period = chargedIn(object, old, now)
    // the server may charge a quota many times in a period: the controller gets one work for all of them
    return period === undefined ? [] : storedOnce('resource-quota-charged', `${keyOf(object)} ${period}`)
  },
  validate: (quota) => [...specErrors(quota.spec ?? {}), ...statusErrors(quota)],
  validateUpdate(quota, old) {
    const now = quota.spec?.scopes
    return [
      ...specErrors(quota.spec ?? {}),
      ...immutable(
        spec.child('scopes'),
        () => quota.spec && sentField(quota.spec, 'scopes'),
        sameScopes(new Set(now), new Set(old.spec?.scopes)),
      ),
    ]
  },
  warningsOnCreate: ({ spec: now }) => warnings(now?.hard ?? {}),
  subresources: { status: { validateUpdate: statusErrors } },
}

type Hard = Readonly<Record<string, string>>

function statusErrors({ status: now }: ResourceQuota): FieldError[] {
  return [
    ...amountErrors(status.child('hard'), now?.hard ?? {}),
    ...amountErrors(status.child('used'), now?.used ?? {}),
  ]
}

const amountErrors = (at: FieldPath, list: Hard): FieldError[] =>
  errorsByName(list, (name) => [
    ...nameErrors(at.key(name), name),
    ...validateAmount(at.key(name), name, ownValue(list, name)!),
  ])

const isStandard = (name: string): boolean => standardNames.has(name) || HUGE_PAGES.test(name)

function nameErrors(at: FieldPath, name: string): FieldError[] {
  const errors = validateResourceName(at, name)
  if (!name.includes('/') && !isStandard(name))
    errors.push(invalidValue(at, named(name), 'must be a standard resource for quota'))
  return errors
}

function specErrors(now: ResourceQuotaSpec): FieldError[] {
  const hard = now.hard ?? {}
  return [...amountErrors(spec.child('hard'), hard), ...scopesErrors(now, hard), ...selectorErrors(now, hard)]
}

/** The standard resources that a scope cannot limit. */
const unfit = (scope: string, hard: Hard): string[] =>
  // few: resources of a scope, in a table
  Object.keys(hard).filter((name) => isStandard(name) && ownValue(scopes, scope)?.includes(name) === false)

const NOT_A_SCOPE = 'unsupported scope'
const UNFIT = 'unsupported scope applied to resource'

function scopesErrors({ scopes: list = [] }: ResourceQuotaSpec, hard: Hard): FieldError[] {
  const at = spec.child('scopes')
  return [
    ...errorsOf(list, (scope) => [
      ...(Object.hasOwn(scopes, scope) ? [] : [invalidValue(at, list, NOT_A_SCOPE)]),
      ...unfit(scope, hard).map(() => invalidValue(at, list, UNFIT)),
    ]),
    ...conflicts(list).map(() => invalidValue(at, list, 'conflicting scopes')),
  ]
}

const sameScopes = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((scope) => b.has(scope))

const conflicts = (list: readonly string[]) => exclusive.filter(([a, b]) => list.includes(a) && list.includes(b))

function selectorErrors({ scopeSelector, scopes: list }: ResourceQuotaSpec, hard: Hard): FieldError[] {
  if (scopeSelector === undefined) return []
  const at = spec.child('scopeSelector', 'matchExpressions')
  const expressions = scopeSelector.matchExpressions ?? []
  // kube-apiserver prints the field names of its internal type
  const shown = {
    MatchExpressions: expressions.map(({ scopeName = '', operator = '', values }) => ({
      ScopeName: scopeName,
      Operator: operator,
      Values: values ?? null,
    })),
  }
  return [
    ...errorsOf(expressions, ({ scopeName = '', operator = '', values = [] }) => [
      ...(Object.hasOwn(scopes, scopeName) ? [] : [invalidValue(at.child('scopeName'), named(scopeName), NOT_A_SCOPE)]),
      ...unfit(scopeName, hard).map(() => invalidValue(at, shown, UNFIT)),
      ...operatorErrors(at, scopeName, operator, values),
    ]),
    ...conflicts(expressions.map(({ scopeName = '' }) => scopeName)).map(() =>
      invalidValue(spec.child('scopeSelector', 'scopes'), list, 'conflicting scopes'),
    ),
  ]
}

function operatorErrors(at: FieldPath, scope: string, operator: string, values: readonly string[]): FieldError[] {
  const operatorAt = at.child('operator')
  const valuesAt = at.child('values')
  const errors: FieldError[] = []
  if (onlyExists.includes(scope) && operator !== 'Exists')
    errors.push(
      invalidValue(
        operatorAt,
        named(operator),
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
      ),
    )
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.push(
        required(valuesAt, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"),
      )
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      errors.push(
        invalidValue(
          valuesAt,
          values,
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        ),
      )
  } else errors.push(invalidValue(operatorAt, named(operator), 'not a valid selector operator'))
  return errors
}

/** A quota on requests above the quota on limits can never be used up. */
function warnings(hard: Hard): string[] {
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((name) => {
    const isShort = (name === 'cpu' || name === 'memory') && hard[`requests.${name}`] === undefined
    const requestName = isShort ? name : `requests.${name}`
    const request = Quantity.tryParse(ownValue(hard, requestName) ?? '')
    const limit = Quantity.tryParse(ownValue(hard, `limits.${name}`) ?? '')
    if (request === undefined || limit === undefined || request.compare(limit) <= 0) return []
    return [`ResourceQuota ${requestName} (${request}) should be less than limits.${name} (${limit})`]
  })
}
