/** limitedResources of the configuration: a write may use these resources only where a quota covers them. */
import { admissionForbidden } from '../../forbidden.ts'
import { plainError } from '../../../api/status.ts'
import type { ResourceQuota } from '../../../api/core/v1.ts'
import { amountsOf, growth, withoutZeros } from '../../../registry/quota/amounts.ts'
import type { Evaluator, Write } from '../../../registry/quota/evaluator.ts'
import { namesOf } from '../../../registry/quota/check.ts'
import { isInScope, scopesOf } from '../../../registry/quota/evaluators.ts'
import { settingsOf } from '../../../settings.ts'
import type { Attributes } from '../../attributes.ts'

/** @throws StatusError where no quota covers a limited resource */
export function checkCovered(
  attributes: Attributes,
  evaluator: Evaluator,
  write: Write,
  quotas: readonly ResourceQuota[],
): void {
  const { request, resource } = attributes
  const { object, oldObject } = write
  const limited = settingsOf(request.env).admission.limitedResources
  if (limited.length === 0) return
  const usage = evaluator.usage(object, request.now)
  const grown = oldObject === undefined ? usage : growth(usage, evaluator.usage(oldObject, request.now))
  const covering = quotas.filter((quota) => isInScope(evaluator, quota, object))
  // an update may bring the object into the scope of a quota, which then counts all that it uses
  const added = covering
    .filter((quota) => namesOf(quota).some((one) => evaluator.tracks(one)))
    .map((quota) => (oldObject !== undefined && isInScope(evaluator, quota, oldObject) ? grown : usage))
  if ((added.length === 0 ? [grown] : added).every((amounts) => withoutZeros(amounts).size === 0)) return
  const covered = new Set(covering.flatMap(({ status }) => [...amountsOf(status?.hard).keys()]))
  const parts = limited
    .filter(({ apiGroup, resource: of }) => apiGroup === resource.group && of === resource.resource)
    .flatMap(({ matchContains }) => matchContains)
  const missing = [...usage].flatMap(([one, amount]) =>
    // few: the configuration names them
    amount.sign > 0 && parts.some((part) => one.includes(part)) && !(covered.has(one) && evaluator.tracks(one))
      ? [one]
      : [],
  )
  if (missing.length > 0)
    throw admissionForbidden(attributes, `insufficient quota to consume: ${missing.sort().join(',')}`)
  const isMet = (scope: Parameters<NonNullable<Evaluator['matchesScope']>>[0]): boolean =>
    evaluator.matchesScope?.(scope, object) === true
  const coveredScopes = new Set(
    quotas
      .flatMap(scopesOf)
      .filter(isMet)
      .map(({ scopeName }) => scopeName),
  )
  const open = limited
    .flatMap(({ matchScopes }) => matchScopes)
    .filter((scope) => isMet(scope) && !coveredScopes.has(scope.scopeName))
    .map(({ scopeName, operator, values }) => `{${scopeName} ${operator} [${values.join(' ')}]}`)
  if (open.length > 0) throw plainError(`insufficient quota to match these scopes: [${open.join(' ')}]`)
}
