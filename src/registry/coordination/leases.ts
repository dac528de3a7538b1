import { append } from '../../api/append.ts'
import type { Lease, LeaseSpec } from '../../api/coordination/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { forbiddenField, invalidValue, notSupported, path } from '../../api/field.ts'
import { nonNegative, validateQualifiedName } from '../../validation/field-rules.ts'
import type { Strategy } from '../strategy.ts'

const spec = path('spec')
export const OLDEST = 'OldestEmulationVersion'

export const leases: Strategy<Lease> = {
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  hasGenericMetadata: true,
  validate: (lease) => specErrors(lease.spec ?? {}),
  validateUpdate: (lease) => specErrors(lease.spec ?? {}),
}

function specErrors({ leaseDurationSeconds: duration, leaseTransitions, strategy, preferredHolder }: LeaseSpec) {
  const errors: FieldError[] = []
  if (duration !== undefined && duration <= 0)
    errors.push(invalidValue(spec.child('leaseDurationSeconds'), duration, 'must be greater than 0'))
  append(errors, nonNegative(spec.child('leaseTransitions'), leaseTransitions))
  if (strategy !== undefined) append(errors, strategyErrors(strategy))
  if (preferredHolder && !strategy)
    errors.push(forbiddenField(spec.child('preferredHolder'), 'may only be specified if `strategy` is defined'))
  return errors
}

/** One of Kubernetes' own, or somebody's with a domain. */
export function strategyErrors(strategy: string): FieldError[] {
  // kube-apiserver names the field twice
  const at = spec.child('strategy', 'strategy')
  if (strategy.includes('/')) return validateQualifiedName(at, strategy)
  return strategy === OLDEST ? [] : [notSupported(at, strategy, [OLDEST])]
}
