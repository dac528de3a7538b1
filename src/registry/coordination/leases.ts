import { append } from '../../base/append.ts'
import type { Lease, LeaseSpec } from '../../api/coordination/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { forbiddenField, invalidValue, notSupported, path } from '../../api/field.ts'
import { nonNegative, validateQualifiedName } from '../../validation/field-rules.ts'
import { leasePrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import type { Change, Work } from '../work/work.ts'
import { work } from '../work/work.ts'
import { LEADER_LEASES } from '../work/workload-controllers.ts'

const spec = path('spec')
export const OLDEST = 'OldestEmulationVersion'

export const leases: BuiltInDefinition<Lease> = {
  printer: leasePrinter,
  ownsNothing: true,
  // the garbage collector looks for no dependents of a Lease
  work: ({ object, old }) => (object === undefined ? work('resource-quota', old?.metadata.namespace) : []),
  workloadWork: [leaseWork],
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

/** A strategy is Kubernetes' own, or its name has a domain. */
export function strategyErrors(strategy: string): FieldError[] {
  // kube-apiserver names the field twice
  const at = spec.child('strategy', 'strategy')
  if (strategy.includes('/')) return validateQualifiedName(at, strategy)
  return strategy === OLDEST ? [] : [notSupported(at, strategy, [OLDEST])]
}

/**
 * The holder of one of these Leases does the same work as our controllers. This rule sees that it takes, renews or
 * gives up its Lease.
 */
function leaseWork({ object, old }: Change): readonly Work[] {
  const { namespace, name = '' } = (object ?? old)?.metadata ?? {}
  if (namespace === 'kube-node-lease') return object === undefined ? [] : [{ topic: 'node-lifecycle', payload: name }]
  const isLeaders = namespace === 'kube-system' && LEADER_LEASES.some((lease) => lease === name)
  return isLeaders ? [{ topic: 'leader-lease', payload: name }] : []
}
